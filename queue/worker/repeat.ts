import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * Does a piece of housekeeping again and again, `everyMs` after it last ended; at once when it says
 * there is more. An error is logged and the next round comes. Resolves when stopped.
 */
export async function repeat(
  what: string,
  everyMs: number,
  { stop, log }: { stop: AbortSignal; log: Logger },
  work: () => Promise<'more' | 'done'>,
): Promise<void> {
  while (!stop.aborted) {
    const more = await work().catch((error: unknown) => {
      log.error({ err: error, what }, 'housekeeping failed; the next round comes');
      return 'done' as const;
    });
    if (more === 'done') await delay(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
