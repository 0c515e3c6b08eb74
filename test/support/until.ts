import { setTimeout as sleep } from 'node:timers/promises';
import type { RunPosition } from '../../core/contract.ts';

/** Long enough on a machine that runs other tests as well; reached only when something is wrong. */
const LIMIT_MS = 120_000;
const FIRST_PAUSE_MS = 10;
/** What takes long is asked for less often: tests that wait must not cost what those that work need. */
const LAST_PAUSE_MS = 50;

/** Polls until `check` gives something else than undefined or false, and returns it. Throws after `limitMs`. */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.25, LAST_PAUSE_MS)) {
    const result = await check();
    if (result !== undefined && result !== false) return result;
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(pauseMs);
  }
}

/** Polls until the position is as wanted, and returns it. Throws, with the last one, when it is not so in time. */
export async function untilPosition<P extends RunPosition>(
  read: () => Promise<P>,
  wanted: (position: P) => boolean,
): Promise<P> {
  let last: P | undefined;
  const check = async () => {
    last = await read();
    return wanted(last) && last;
  };
  return until('a position', check).catch((error: unknown) => {
    throw new Error(`still ${JSON.stringify(last, null, 1)}`, { cause: error });
  });
}
