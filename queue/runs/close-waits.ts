import type { ClientBase } from 'pg';

/**
 * A run that turns to compensating waits for nothing any more: open questions are withdrawn, timers
 * taken out, joins closed. Under the run's row lock; locks joins after it.
 */
export async function closeWaits(tx: ClientBase, runId: string): Promise<void> {
  await tx.query(`UPDATE queue.gate SET state = 'withdrawn' WHERE run_id = $1 AND state = 'open'`, [
    runId,
  ]);
  await tx.query('DELETE FROM queue.timer WHERE run_id = $1 AND fired_at IS NULL', [runId]);
  await tx.query(
    `UPDATE queue.run_join SET closed_at = statement_timestamp()
     WHERE run_id = $1 AND closed_at IS NULL AND completed_at IS NULL`,
    [runId],
  );
}
