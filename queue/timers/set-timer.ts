import type { ClientBase } from 'pg';

/** Farthest a timer may lie ahead. Longer is a slip of the pen: a wait in ms taken for one in s. */
const MAX_AHEAD_MS = 10 * 366 * 24 * 3_600_000;

/**
 * Sets a timer for a run, in the caller's transaction. The same name at the same time is the same
 * timer. Throws a RangeError for a time that is none, or lies more than ten years ahead.
 */
export async function setTimer(
  tx: ClientBase,
  runId: string,
  name: string,
  dueAt: Date,
): Promise<void> {
  // NaN would never be due, and a language's own timers fire it at once: refused before it is stored.
  if (!Number.isFinite(dueAt.getTime())) throw new RangeError(`timer ${name}: not a time`);
  if (dueAt.getTime() - Date.now() > MAX_AHEAD_MS) {
    throw new RangeError(`timer ${name}: ${dueAt.toISOString()} is more than ten years ahead`);
  }
  await tx.query({
    name: 'timer-set',
    text: `
      INSERT INTO queue.timer (run_id, name, due_at) VALUES ($1, $2, $3)
      ON CONFLICT (run_id, name, due_at) DO NOTHING`,
    values: [runId, name, dueAt],
  });
}

/** A time `ms` after `start`. Throws a RangeError unless `ms` is finite and not negative. */
export function after(start: Date, ms: number): Date {
  if (!Number.isFinite(ms) || ms < 0) {
    throw new RangeError(`a wait of ${ms} ms: must be a finite number, not negative`);
  }
  return new Date(start.getTime() + ms);
}
