import type { ClientBase } from 'pg';
import type { Transport } from '../transport/contract.ts';
import { sendNext } from './start-join.ts';

/**
 * Gives the dead children of a run's joins another life, with fresh budgets: what an operator's replay
 * of a step that waited for them means. Children that have their outcome keep it.
 */
export async function reopenFailedChildren(
  tx: ClientBase,
  transport: Transport,
  runId: string,
): Promise<void> {
  const { rows } = await tx.query<{ id: string; queue: string; width: number }>(
    `SELECT id, queue, width FROM queue.run_join
     WHERE run_id = $1 AND completed_at IS NOT NULL AND closed_at IS NULL FOR UPDATE`,
    [runId],
  );
  for (const { id: joinId, queue, width } of rows) {
    const { rowCount } = await tx.query(
      `UPDATE queue.join_child SET state = 'waiting', outcome = NULL, attempts = 0,
         lost_workers = 0, failures = 0, missing_failures = 0, message_id = NULL,
         not_before = NULL
       WHERE join_id = $1 AND outcome->>'kind' = 'failed'`,
      [joinId],
    );
    if (!rowCount) continue;
    await tx.query(
      'UPDATE queue.run_join SET completed_at = NULL, done = done - $2 WHERE id = $1',
      [joinId, rowCount],
    );
    await sendNext(tx, transport, { joinId, queue, count: width });
  }
}
