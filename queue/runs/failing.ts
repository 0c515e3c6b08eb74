import { nextDelay } from '../../core/backoff.ts';
import type { StepFailure } from '../../core/failures.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { Policy } from '../../core/policy.ts';
import type { UndoableStep } from '../../core/steps.ts';
import type { Run } from './run.ts';
import { compensate } from './transitions.ts';
import type { Moved } from './transitions.ts';

// Pure, as transitions.ts: where an attempt leads that did not succeed.

/** Comes back later without having used up anything: a pause the partner asked for, or a request that may still land. */
export function postpone(run: Run, nextAttemptAt: Date): Moved {
  const attempts = Math.max(0, run.attempts - 1);
  return { run: { ...run, attempts, parkedFor: 'retry', nextAttemptAt }, history: [] };
}

/** The budget is used up, or retrying cannot help: a person has to look. */
export function giveUp(run: Run, reason: string, now: Date, undo?: UndoableStep): Moved {
  const stuck: Run = {
    ...run,
    step: undo ?? run.step,
    status: 'stuck',
    parkedFor: 'operator',
    waitingFor: { kind: 'operator', reason, since: now.toISOString() },
    nextAttemptAt: null,
    reason,
    state: { ...run.state, ...(undo ? { failedUndo: undo } : {}) },
  };
  const history: HistoryEvent[] = undo
    ? [{ type: 'undo-failed', step: undo, reason }]
    : [{ type: 'stuck', step: run.step, reason }];
  return { run: stuck, history };
}

export interface Failing {
  failure: StepFailure;
  policy: Policy;
  now: Date;
  random: () => number;
  /** The undo that failed, while the run compensates. */
  undo?: UndoableStep | undefined;
}

/** What a failed attempt leads to: another attempt later, a refused order, or an operator. */
export function fail(run: Run, { failure, policy, now, random, undo }: Failing): Moved {
  const { failureClass, message, retryAfterMs } = failure;
  if (failureClass === 'refused' && !undo) {
    return compensate(run, { kind: 'end', outcome: 'refused', reason: message });
  }
  const counted: Run =
    failureClass === 'missing'
      ? { ...run, missingFailures: run.missingFailures + 1, lastFailure: message }
      : { ...run, failures: run.failures + 1, lastFailure: message };
  const spent = failureClass === 'missing' ? counted.missingFailures : counted.failures;
  const delay = nextDelay(failureClass, spent, policy, random, retryAfterMs);
  if (delay === 'give-up') return giveUp(counted, `${message} (${failureClass})`, now, undo);
  return {
    run: {
      ...counted,
      step: undo ?? counted.step,
      status: undo ? 'compensating' : 'retrying',
      parkedFor: 'retry',
      nextAttemptAt: new Date(now.getTime() + delay),
    },
    history: [],
  };
}
