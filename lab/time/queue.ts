import type pg from 'pg';
import { businessKey, type OrderId } from '../../core/identity.ts';

/**
 * Moves one run's clock forward by `ms`: everything of it that is due comes that much nearer, nothing
 * else changes. The hand-built twin of Temporal's time skipping. Throws what `pg` throws.
 */
export async function shiftDueRows(pool: pg.Pool, id: OrderId, ms: number): Promise<void> {
  // One statement: a scheduler that looks in between must not see half a run in the future.
  await pool.query(
    `WITH timers AS (
       UPDATE queue.timer SET due_at = due_at - $2 * interval '1 millisecond'
       WHERE run_id = $1 AND fired_at IS NULL
     )
     UPDATE queue.gate SET until = until - $2 * interval '1 millisecond'
     WHERE run_id = $1 AND state = 'open'`,
    [businessKey(id), ms],
  );
}
