import type { Pool } from 'pg';
import { withTransaction } from '../database.ts';
import { deliver } from '../runs/inbox.ts';
import { isLockTimeout } from '../runs/lock-run.ts';
import type { Transport } from '../transport/contract.ts';

const BATCH = 100;
/** One run whose row is locked by somebody frozen must not hold up the timers of all others. */
const LONGEST_WAIT_MS = 250;

/*
 * statement_timestamp() and a limit that the planner can't see, as in the transport's claim: so that a
 * look takes the index whatever the statistics say.
 */
export const DUE_TIMERS = `
  SELECT run_id, name FROM queue.timer
  WHERE fired_at IS NULL AND due_at <= statement_timestamp()
  ORDER BY due_at LIMIT (SELECT $1::int)`;

/**
 * Fires what is due, by the database's clock, and returns how many timers that was. Any number of
 * schedulers may run: the first to set `fired_at` under the run's lock has fired it, and the entry in
 * the inbox and the wake-up are in the same transaction.
 */
export async function fireDueTimers(pool: Pool, transport: Transport): Promise<number> {
  const { rows } = await pool.query<{ run_id: string; name: string }>({
    name: 'timers-due',
    text: DUE_TIMERS,
    values: [BATCH],
  });
  let fired = 0;
  const locked = new Set<string>();
  for (const { run_id: runId, name } of rows) {
    // A run's timers fire in the order of their dates: an escalation never after its deadline.
    if (locked.has(runId)) continue;
    const result = await fire(pool, transport, runId, name);
    if (result === 'fired') fired += 1;
    if (result === 'locked') locked.add(runId);
  }
  return fired;
}

/** Locks in the order of everybody: the run first, then what belongs to it. */
async function fire(
  pool: Pool,
  transport: Transport,
  runId: string,
  name: string,
): Promise<'fired' | 'already' | 'locked'> {
  try {
    return await withTransaction(pool, async (tx) => {
      await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [String(LONGEST_WAIT_MS)]);
      await tx.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
      const { rowCount } = await tx.query(
        `UPDATE queue.timer SET fired_at = statement_timestamp()
         WHERE run_id = $1 AND name = $2 AND fired_at IS NULL AND due_at <= statement_timestamp()`,
        [runId, name],
      );
      if (!rowCount) return 'already';
      await deliver(tx, transport, runId, { kind: 'timer', name });
      return 'fired';
    });
  } catch (error) {
    // The next round finds it still due.
    if (isLockTimeout(error)) return 'locked';
    throw error;
  }
}
