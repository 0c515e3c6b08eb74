import { CancellationScope } from '@temporalio/workflow';
import { askAboutUndo } from './operator.ts';
import { problemOf } from './failures.ts';
import { move, record } from './position.ts';
import type { Run, Undo } from './run.ts';

/**
 * Undoes what the run did, last first. No cancellation stops it. An undo that fails for good waits
 * for an operator: never silence.
 * @returns false when an operator left one of the undos to people
 */
export async function compensate(run: Run): Promise<boolean> {
  return CancellationScope.nonCancellable(async () => {
    let complete = true;
    for (let undo = run.undos.pop(); undo; undo = run.undos.pop()) {
      complete = (await undone(run, undo)) && complete;
    }
    return complete;
  });
}

async function undone(run: Run, undo: Undo): Promise<boolean> {
  const { step } = undo;
  for (let again = !undo.reported; ; again = true) {
    move(run, { step, status: 'compensating' });
    try {
      if (await undo.work(again)) record(run, { type: 'undo-done', step });
      return true;
    } catch (error) {
      const answer = await askAboutUndo(run, step, problemOf(error));
      if (answer === 'discard') return false;
    }
  }
}
