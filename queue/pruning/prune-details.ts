import type { Pool } from 'pg';
import { withTransaction } from '../database.ts';

/*
 * In the order in which the rows refer to each other. The names are this list's own, so that they may
 * stand in the text of a statement.
 */
const DETAILS = [
  `DELETE FROM queue.join_child WHERE join_id IN (
     SELECT id FROM queue.run_join WHERE run_id = ANY ($1))`,
  ...[...['run_join', 'run_input', 'run_attempt', 'run_inbox', 'timer', 'gate'], 'run_history'].map(
    (table) => `DELETE FROM queue.${table} WHERE run_id = ANY ($1)`,
  ),
  // What the agent was asked goes, what it was allowed to spend stays beside what it did spend.
  `UPDATE queue.agent_input SET input = jsonb_build_object('limits', input->'limits')
   WHERE run_id = ANY ($1)`,
  'DELETE FROM queue.dead_letter WHERE run_id = ANY ($1) AND resolved_at IS NOT NULL',
];

/** What is left of the agent's state: its transcript is collected from now on. */
const SPENDING = `jsonb_build_object('agent', jsonb_build_object('notes', '[]'::jsonb,
  'turn', state#>'{agent,turn}', 'spent', state#>'{agent,spent}'))`;

/** The limit is a subquery so that the planner takes the index whatever the statistics say. */
export const OLD_RUNS = `
  SELECT id FROM queue.run
  WHERE ended_at < statement_timestamp() - $1 * interval '1 millisecond'
    AND ended_at IS NOT NULL AND history_cut IS NULL
  ORDER BY ended_at LIMIT (SELECT $2::int)
  FOR NO KEY UPDATE SKIP LOCKED`;

/**
 * Deletes what explains the runs that ended more than `olderThanMs` ago, and leaves what identifies
 * them and their effects: the run's row, the ledger, the evidence, the invoice. At most `batch` runs in
 * one short transaction, oldest first. Returns how many; fewer than `batch` means that none is left.
 */
export async function pruneDetails(
  pool: Pool,
  { olderThanMs, batch }: { olderThanMs: number; batch: number },
): Promise<number> {
  return withTransaction(pool, async (tx) => {
    // The run's row is locked before what belongs to it, as everybody does. A run that is locked is
    // left to the next round: an answer that comes late is writing to its history.
    const { rows } = await tx.query<{ id: string }>(OLD_RUNS, [olderThanMs, batch]);
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx.query(
      `UPDATE queue.run r SET history_cut = (
         SELECT count(*) FROM queue.run_history WHERE run_id = r.id),
         state = CASE kind WHEN 'agent' THEN ${SPENDING} ELSE state END
       WHERE id = ANY ($1)`,
      [ids],
    );
    for (const deletion of DETAILS) await tx.query(deletion, [ids]);
    // The comparison with the partners needs the input. Without this it would have to step over these
    // rows for ever, since they are the ones compared longest ago.
    await tx.query(`UPDATE queue.ledger SET reconciled_at = 'infinity' WHERE run_id = ANY ($1)`, [
      ids,
    ]);
    return ids.length;
  });
}
