import type pg from 'pg';
import { businessKey, type OrderId } from '../../core/identity.ts';
import { withTransaction } from '../../queue/database.ts';

const EARLIER = `- $2 * interval '1 millisecond'`;

/** Everything of a run that is due at some time, in the order in which everybody takes its locks. */
const DUE_ROWS = [
  `UPDATE queue.run SET next_attempt_at = next_attempt_at ${EARLIER}
   WHERE id = $1 AND parked_for = 'retry'`,
  `UPDATE queue.timer SET due_at = due_at ${EARLIER} WHERE run_id = $1 AND fired_at IS NULL`,
  `UPDATE queue.gate SET until = until ${EARLIER} WHERE run_id = $1 AND state = 'open'`,
  `UPDATE queue.join_child SET not_before = not_before ${EARLIER}
   WHERE starts_with(join_id, $1 || '/') AND state = 'sent'`,
  // Its delayed messages: the run's own wake-up, and those of its children, which a retry put off.
  `UPDATE queue.message SET visible_at = visible_at ${EARLIER}
   WHERE receipt IS NULL AND visible_at > statement_timestamp()
     AND (body->>'runId' = $1 OR starts_with(body->>'joinId', $1 || '/'))`,
];

/**
 * Moves one run's clock forward by `ms`: everything of it that is due comes that much nearer, nothing
 * else changes. The hand-built twin of Temporal's time skipping. Throws what `pg` throws.
 */
export function shiftDueRows(pool: pg.Pool, id: OrderId, ms: number): Promise<void> {
  return shiftRun(pool, businessKey(id), ms);
}

/** The same by the run's id, whatever kind of run it is. */
export async function shiftRun(pool: pg.Pool, runId: string, ms: number): Promise<void> {
  // One transaction: a scheduler that looks in between must not see half a run in the future.
  await withTransaction(pool, async (tx) => {
    await tx.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
    for (const statement of DUE_ROWS) await tx.query(statement, [runId, ms]);
  });
}
