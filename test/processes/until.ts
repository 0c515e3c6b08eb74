import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;

/** Waits until `condition` holds; throws when it does not within `limitMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not so after ${limitMs} ms: ${what}`);
    await sleep(POLL_MS);
  }
}
