import type { ClientBase, Pool } from 'pg';
import type { UndoableStep } from '../../core/steps.ts';
import type { Run } from '../runs/run.ts';

export interface Undoable {
  step: UndoableStep;
  effectKey: string;
  /** A request may still be out: what is undone too early comes back. */
  unsure: boolean;
}

/**
 * The newest effect of the run's revision that is still to be taken back, or undefined. The intent in
 * the ledger, written before the step acts, is the registration of its undo: there is no second list
 * that could disagree with it. While a run does not compensate there is none.
 */
export async function currentUndo(db: ClientBase | Pool, run: Run): Promise<Undoable | undefined> {
  if (!run.state.ending) return undefined;
  const { rows } = await db.query<{ step: UndoableStep; effect_key: string; state: string }>({
    name: 'ledger-undoable',
    text: `
      SELECT step, effect_key, state FROM queue.ledger
      WHERE run_id = $1 AND revision = $2 AND state IN ('intent', 'done')
        AND step IN ('reserve', 'charge', 'place')
      ORDER BY array_position(ARRAY['place', 'charge', 'reserve'], step)
      LIMIT 1`,
    values: [run.id, run.revision],
  });
  const [row] = rows;
  return row && { step: row.step, effectKey: row.effect_key, unsure: row.state === 'intent' };
}
