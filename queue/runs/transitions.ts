import type { WaitingFor } from '../../core/contract.ts';
import { nextDelay } from '../../core/backoff.ts';
import type { StepFailure } from '../../core/failures.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { Policy } from '../../core/policy.ts';
import { STEPS } from '../../core/steps.ts';
import type { Outcome, Step, UndoableStep } from '../../core/steps.ts';
import type { InboxEntry } from './inbox.ts';
import type { Ending, ParkedFor, Run, RunState } from './run.ts';

// Pure: from one position to the next, with what the history says about it. No clock, no database.

export interface Moved {
  run: Run;
  history: HistoryEvent[];
}

/** A step's budgets start anew with every step and every undo. The first attempt begins at once. */
const FRESH = {
  attempts: 1,
  lostWorkers: 0,
  failures: 0,
  missingFailures: 0,
  lastFailure: null,
  nextAttemptAt: null,
  parkedFor: null,
  waitingFor: null,
} as const;

/** The step is done; the next one begins, or, after the last one, the run has ended. */
export function advance(run: Run, detail?: string, found: Partial<RunState> = {}): Moved {
  const history: HistoryEvent[] = [
    { type: 'step-done', step: run.step, ...(detail === undefined ? {} : { detail }) },
  ];
  const next = STEPS[STEPS.indexOf(run.step) + 1];
  const state = { ...run.state, ...found };
  if (next) {
    return { run: { ...run, ...FRESH, step: next, status: 'running', state }, history };
  }
  const ended = end({ ...run, state }, 'completed');
  return { run: ended.run, history: [...history, ...ended.history] };
}

export function end(run: Run, outcome: Outcome, reason?: string): Moved {
  return {
    run: { ...run, ...FRESH, attempts: 0, status: 'ended', outcome, reason: reason ?? null },
    history: [{ type: 'ended', outcome, ...(reason === undefined ? {} : { reason }) }],
  };
}

/** From here on the run undoes what it did; `ending` says what comes after that. */
export function compensate(run: Run, ending: Ending): Moved {
  const state: RunState = { ...run.state, ending };
  delete state.failedUndo;
  return { run: { ...run, ...FRESH, status: 'compensating', reason: null, state }, history: [] };
}

/** `happened` is false when the partner had nothing to take back. */
export function undone(run: Run, step: UndoableStep, happened: boolean): Moved {
  return {
    run: { ...run, ...FRESH, step, status: 'compensating' },
    history: happened ? [{ type: 'undo-done', step }] : [],
  };
}

/** Nothing is left to undo. */
export function compensated(run: Run): Moved {
  const { ending } = run.state;
  if (ending?.kind === 'end') return end(run, ending.outcome, ending.reason);
  if (run.state.leftToPeople) {
    // The new revision would do again what the old one did and nobody took back.
    return end(run, 'discarded', 'the old revision could not be undone');
  }
  const revision = run.revision + 1;
  return {
    run: { ...run, ...FRESH, step: 'validate', status: 'running', revision, state: {} },
    history: [{ type: 'started', revision }],
  };
}

export function park(run: Run, parkedFor: ParkedFor, waitingFor: WaitingFor | null): Moved {
  const waits = parkedFor === 'gate' || parkedFor === 'date';
  return {
    run: {
      ...run,
      parkedFor,
      waitingFor,
      status: waits ? 'waiting' : run.status,
      // Nobody attempts anything while a run waits.
      attempts: waits ? 0 : run.attempts,
    },
    history: [],
  };
}

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

/** An operator has it tried again: the step, or the undo, with a fresh budget. */
export function resume(run: Run): Run {
  const state: RunState = { ...run.state };
  delete state.failedUndo;
  const status = state.ending ? 'compensating' : 'running';
  // Nobody has begun yet: the take counts the attempt.
  return { ...run, ...FRESH, attempts: 0, status, reason: null, state };
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

/**
 * What the outside said meanwhile. Only a cancel moves the run by itself; everything else makes the
 * step look again. `started`: the step at the cursor has begun, which is too late for the invoice.
 */
export function absorb(run: Run, entries: readonly InboxEntry[], started: boolean): Moved {
  let moved: Moved = { run, history: [] };
  for (const entry of entries) {
    if (entry.kind !== 'cancel') continue;
    const next = cancel(moved.run, entry, started);
    moved = { run: next.run, history: [...moved.history, ...next.history] };
  }
  return moved;
}

function cancel(run: Run, { by, reason }: { by: string; reason: string }, started: boolean): Moved {
  const { cancel: earlier } = run.state;
  if (earlier?.by === by && earlier.reason === reason) return { run, history: [] };
  if (!cancellable(run, started)) {
    return { run, history: [{ type: 'cancel-too-late', by, reason }] };
  }
  const { run: moved } = compensate(run, { kind: 'end', outcome: 'cancelled', reason });
  // Whoever asked has already put the request into the history.
  return { run: { ...moved, state: { ...moved.state, cancel: { by, reason } } }, history: [] };
}

/** Whether a cancel is honoured. `started`: the step at the cursor has begun, which is too late for the invoice. */
export function cancellable(
  { status, state, step }: Pick<Run, 'status' | 'state' | 'step'>,
  started: boolean,
): boolean {
  if (status === 'ended' || state.failedUndo || state.ending?.kind === 'end') return false;
  // While the old revision of a fixed order is undone, there is still time.
  if (state.ending) return true;
  return isBefore(step, 'invoice') || (step === 'invoice' && !started);
}

function isBefore(step: Step, other: Step): boolean {
  return STEPS.indexOf(step) < STEPS.indexOf(other);
}
