import type { ClientBase, Pool } from 'pg';
import type { OperatorAction, OperatorResult } from '../../core/contract.ts';
import type { HistoryEvent } from '../../core/history.ts';
import { businessKey } from '../../core/identity.ts';
import { differences } from '../../core/order/difference.ts';
import { orderIdOf, toRunInput } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import { withTransaction } from '../database.ts';
import { reopenFailedChildren } from '../joins/reopen.ts';
import { writeUndone } from '../ledger/records.ts';
import { currentUndo } from '../ledger/undoable.ts';
import { closeWaits } from '../runs/close-waits.ts';
import { appendHistory } from '../runs/history.ts';
import { wake } from '../runs/inbox.ts';
import { loadInput, storeInput } from '../runs/input.ts';
import { orderStep, RUN_COLUMNS, toRun } from '../runs/run.ts';
import type { Run, RunRow } from '../runs/run.ts';
import { saveRun } from '../runs/save.ts';
import { compensate, resume } from '../runs/transitions.ts';
import type { Transport } from '../transport/contract.ts';
import { resolveDeadLetter } from './resolve.ts';
import type { Resolution } from './resolve.ts';

export interface Operators {
  pool: Pool;
  transport: Transport;
}

/** What an action makes of a stuck run; throws Refused. */
type Act = (tx: ClientBase, run: Run) => Promise<{ run: Run; history: HistoryEvent[] }>;

class Refused extends Error {
  override readonly name = 'Refused';
}

/** Tries again what is stuck, with a fresh budget. The ledger decides what that repeats: nothing. */
export function replay(operators: Operators, runId: string, action: OperatorAction) {
  return operate(operators, runId, { resolution: 'replayed', ...action }, async (tx, run) => {
    await reopenFailedChildren(tx, operators.transport, run.id);
    return { run: resume(run), history: [{ type: 'replayed', step: run.step, ...action }] };
  });
}

/**
 * Gives up what is stuck: a step's run is undone and ends; an undo is left to people, and the others go on.
 * An order that the agent has started is a run of its own, and goes on.
 */
export function discard(operators: Operators, runId: string, action: OperatorAction) {
  return operate(operators, runId, { resolution: 'discarded', ...action }, async (tx, run) => {
    const history: HistoryEvent[] = [{ type: 'discarded', step: run.step, ...action }];
    if (run.state.failedUndo) {
      const undo = await currentUndo(tx, run);
      if (undo) await writeUndone(tx, undo.effectKey, 'abandoned');
      const resumed = resume(run);
      return { run: { ...resumed, state: { ...resumed.state, leftToPeople: true } }, history };
    }
    await closeWaits(tx, run.id);
    const reason = action.why;
    return { run: compensate(run, { kind: 'end', outcome: 'discarded', reason }).run, history };
  });
}

/**
 * Goes on with a corrected order: what the old revision did is undone, then the next revision starts
 * from the first step, under effect keys of its own. Before and after are kept.
 */
export function fix(
  operators: Operators,
  runId: string,
  { order, ...action }: OperatorAction & { order: Order },
) {
  const resolution: Resolution = { resolution: 'fixed', ...action, after: order };
  return operate(operators, runId, resolution, async (tx, run) => {
    if (run.state.failedUndo) throw new Refused('no fix here: the run is being undone');
    const step = orderStep(run.step);
    if (step === 'invoice' || step === 'close') {
      throw new Refused('no fix here: the invoice may be out');
    }
    if (businessKey(orderIdOf(order)) !== run.id) {
      throw new Refused('a fix keeps the buyer and the reference of the order');
    }
    const { order: before, policy } = await loadInput(tx, run.id, run.revision);
    resolution.before = before;
    await closeWaits(tx, run.id);
    const next = toRunInput(order, policy, new Date());
    await storeInput(tx, run.id, { ...next, revision: run.revision + 1 });
    const changed = differences(before, order);
    return {
      run: compensate(run, { kind: 'start-over' }).run,
      history: [{ type: 'fixed', step, ...action, ...changed }],
    };
  });
}

/**
 * One action on a stuck run, in one transaction: the check, the history, the position, the dead
 * letter's resolution and the wake-up. Raises the token, since the last holder may not know yet.
 */
async function operate(
  { pool, transport }: Operators,
  runId: string,
  resolution: Resolution,
  act: Act,
): Promise<OperatorResult> {
  try {
    return await withTransaction(pool, async (tx): Promise<OperatorResult> => {
      const { rows } = await tx.query<RunRow>(
        `UPDATE queue.run SET token = token + 1 WHERE id = $1 AND status = 'stuck'
         RETURNING ${RUN_COLUMNS}`,
        [runId],
      );
      const [row] = rows;
      if (!row) return notStuck(tx, runId);
      const { run, history } = await act(tx, toRun(row));
      await appendHistory(tx, runId, history);
      await saveRun(tx, run);
      const redriven = await resolveDeadLetter(tx, transport, runId, resolution);
      if (redriven === 'none') await wake(tx, transport, runId);
      return { kind: 'accepted' };
    });
  } catch (error) {
    if (error instanceof Refused) return { kind: 'conflict', reason: error.message };
    throw error;
  }
}

async function notStuck(tx: ClientBase, runId: string): Promise<OperatorResult> {
  const { rowCount } = await tx.query('SELECT FROM queue.run WHERE id = $1', [runId]);
  return rowCount ? { kind: 'conflict', reason: 'the run is not stuck' } : { kind: 'not-found' };
}
