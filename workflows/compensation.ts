import { CancellationScope } from '@temporalio/workflow';
import { UNDOABLE } from '../core/steps.ts';
import { wasReset } from './activities.ts';
import { askAboutUndo } from './operator.ts';
import { problemOf } from './failures.ts';
import { move, record } from './position.ts';
import type { Run, Undo } from './run.ts';
import { undo } from './steps.ts';

/**
 * Undoes what the run did, last first. No cancellation stops it. An undo that fails for good waits
 * for an operator: never silence.
 * @returns false when an operator left one of the undos to people
 */
export async function compensate(run: Run): Promise<boolean> {
  return CancellationScope.nonCancellable(async () => {
    let complete = true;
    if (wasReset()) run.undos.push(...forgotten(run));
    for (let next = run.undos.pop(); next; next = run.undos.pop()) {
      complete = (await undone(run, next)) && complete;
    }
    return complete;
  });
}

/**
 * The steps that a run which was reset has not come to again: they may have been done in what was dropped.
 * Who has done nothing says so when it is asked to undo it.
 */
function forgotten(run: Run): Undo[] {
  return UNDOABLE.filter((step) => !run.undos.some((known) => known.step === step)).map((step) => ({
    step,
    reported: false,
    work: (again) => undo(run, step, again),
  }));
}

async function undone(run: Run, { step, reported, work }: Undo): Promise<boolean> {
  for (let again = !reported; ; again = true) {
    move(run, { step, status: 'compensating' });
    try {
      if (await work(again)) record(run, { type: 'undo-done', step });
      return true;
    } catch (error) {
      const answer = await askAboutUndo(run, step, problemOf(error));
      if (answer === 'discard') return false;
    }
  }
}
