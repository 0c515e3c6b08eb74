import type { Pool } from 'pg';
import { withTransaction } from '../database.ts';
import { fence } from '../runs/fence.ts';
import type { Holding } from '../runs/hold.ts';

/**
 * How long (ms) until an effect whose outcome nobody knows must have landed; 0 when that time has
 * passed. The first to ask writes down since when, so that the wait has an end however often the run
 * changes hands.
 */
export async function settleOriginal(
  pool: Pool,
  { lease, input }: Pick<Holding, 'lease' | 'input'>,
  effectKey: string,
): Promise<number> {
  return withTransaction(pool, async (tx) => {
    await fence(tx, lease);
    const { rows } = await tx.query<{ wait_ms: number }>(
      `UPDATE queue.ledger SET unsure_since = coalesce(unsure_since, $2)
       WHERE effect_key = $1 AND state = 'intent'
       RETURNING greatest(0, $3 - extract(epoch FROM statement_timestamp() - unsure_since) * 1000)::float8
         AS wait_ms`,
      [effectKey, lease.leasedAt, input.policy.settleMs],
    );
    return Math.ceil(rows[0]?.wait_ms ?? 0);
  });
}
