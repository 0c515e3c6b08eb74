import { setTimeout as wait } from 'node:timers/promises';

/** Polls until the check is true; throws after `limitMs`. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  for (const deadline = Date.now() + limitMs; !(await check()); await wait(20)) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${limitMs} ms`);
  }
}
