import type { Db } from '../transport/contract.ts';
import type { ChildOutcome } from './children.ts';

export interface JoinView {
  total: number;
  done: number;
  completed: boolean;
}

/** A join as it stands, or undefined when it has not been started. */
export async function readJoin(db: Db, joinId: string): Promise<JoinView | undefined> {
  const { rows } = await db.query<JoinView>(
    `SELECT total, done, completed_at IS NOT NULL AS completed FROM queue.run_join WHERE id = $1`,
    [joinId],
  );
  return rows[0];
}

/** The outcomes of a completed join by child, in the children's own order. */
export async function readOutcomes(db: Db, joinId: string): Promise<Map<string, ChildOutcome>> {
  const { rows } = await db.query<{ child_id: string; outcome: ChildOutcome }>(
    `SELECT child_id, outcome FROM queue.join_child
     WHERE join_id = $1 AND outcome IS NOT NULL ORDER BY ordinal`,
    [joinId],
  );
  return new Map(rows.map(({ child_id: childId, outcome }) => [childId, outcome]));
}
