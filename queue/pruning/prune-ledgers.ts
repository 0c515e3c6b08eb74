import type { Pool } from 'pg';
import { withTransaction } from '../database.ts';

/*
 * Every run that a message names, alive or dead: by its body (a wake-up, a child of a join) or by its
 * key (a producer's own message, whose redrive would submit the order again). Only looked at when
 * there is a candidate. A join's id begins with its run's two parts.
 */
const NAMED = `
  SELECT unnest(ARRAY[key, body->>'runId',
    substring(body->>'joinId' FROM '^[^/]+/[^/]+')]) AS run_id
  FROM (SELECT key, body FROM queue.message UNION ALL SELECT key, body FROM queue.dead_message) AS m`;

/*
 * A run that has ended is not in anybody's dead letters; the condition says so all the same, because
 * it is the law of this file and not a consequence of another one.
 */
export const FORGOTTEN_RUNS = `
  WITH named AS MATERIALIZED (${NAMED})
  SELECT id FROM queue.run r
  WHERE ended_at < statement_timestamp() - $1 * interval '1 millisecond'
    AND history_cut IS NOT NULL
    AND NOT EXISTS (SELECT FROM named WHERE run_id = r.id)
    AND NOT EXISTS (SELECT FROM queue.dead_letter WHERE run_id = r.id AND resolved_at IS NULL)
  ORDER BY ended_at LIMIT (SELECT $2::int)
  FOR NO KEY UPDATE OF r SKIP LOCKED`;

/**
 * Deletes runs whose details are gone and that ended more than `olderThanMs` ago, each with its ledger
 * in one transaction: a run without its ledger could be carried out again under effect keys that
 * nobody remembers, a ledger without its run would answer for another order under the same reference.
 * A run that any message names is kept, however old. At most `batch` runs; returns how many.
 */
export async function pruneLedgers(
  pool: Pool,
  { olderThanMs, batch }: { olderThanMs: number; batch: number },
): Promise<number> {
  return withTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(FORGOTTEN_RUNS, [olderThanMs, batch]);
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    for (const table of ['evidence', 'disagreement', 'ledger'] as const) {
      await tx.query(`DELETE FROM queue.${table} WHERE run_id = ANY ($1)`, [ids]);
    }
    // Whoever answered late has written history since the details went.
    for (const table of ['dead_letter', 'run_history', 'agent_input'] as const) {
      await tx.query(`DELETE FROM queue.${table} WHERE run_id = ANY ($1)`, [ids]);
    }
    await tx.query('DELETE FROM queue.run WHERE id = ANY ($1)', [ids]);
    return ids.length;
  });
}
