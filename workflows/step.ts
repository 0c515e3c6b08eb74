import { CancellationScope, CancelledFailure, isCancellation } from '@temporalio/workflow';
import type { Step, UndoableStep } from '../core/steps.ts';
import { wasReset } from './activities.ts';
import { problemOf } from './failures.ts';
import type { StepProblem } from './failures.ts';
import { askOperator } from './operator.ts';
import { move, record } from './position.ts';
import { Stopped } from './run.ts';
import type { Run, Undo } from './run.ts';

/**
 * Does the work of a step; may say in a few words what came of it.
 * @param again an earlier request may still be on its way
 */
export type Work = (again: boolean) => Promise<string | undefined>;

/**
 * Takes one step: again when an operator says so, until it is done. Throws `Stopped` when the run ends
 * here (refused, discarded, to be fixed), and the CancelledFailure of a cancellation.
 */
export async function step(run: Run, name: Step, work: Work): Promise<void> {
  stopIfCancelled();
  move(run, { step: name, status: 'running' });
  for (let again = wasReset(); ; again = true) {
    const problem = await tried(run, name, () => work(again));
    if (!problem) return;
    if (problem.failureClass === 'refused') throw refusal(problem);
    await askOperator(run, name, problem);
    move(run, { step: name, status: 'running' });
  }
}

/** A step with an effect: what undoes it is registered before it runs, since an effect that was not reported is one too. */
export async function effectStep(
  run: Run,
  name: UndoableStep,
  { work, undo }: { work: Work; undo: Undo['work'] },
): Promise<void> {
  const registered: Undo = { step: name, reported: false, work: undo };
  await step(run, name, async (again) => {
    if (!run.undos.includes(registered)) run.undos.push(registered);
    try {
      const detail = await work(again);
      registered.reported = true;
      return detail;
    } catch (error) {
      if (!again && refusedAtOnce(error)) run.undos.pop();
      throw error;
    }
  });
}

async function tried(run: Run, name: Step, work: () => Promise<string | undefined>) {
  try {
    const detail = await work();
    record(run, { type: 'step-done', step: name, ...(detail === undefined ? {} : { detail }) });
    return undefined;
  } catch (error) {
    // A step that failed while its run was being cancelled needs no operator: it is undone anyway.
    stopIfCancelled();
    if (error instanceof Stopped) throw error;
    return problemOf(error);
  }
}

function refusal({ message }: StepProblem): Stopped {
  return new Stopped({ kind: 'end', outcome: 'refused', reason: message });
}

function refusedAtOnce(error: unknown): boolean {
  if (error instanceof Stopped || isCancellation(error)) return false;
  const { failureClass, firstAttempt } = problemOf(error);
  return failureClass === 'refused' && firstAttempt;
}

/** Ends the steps where they are when a cancel has been asked for. */
export function stopIfCancelled(): void {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled');
}
