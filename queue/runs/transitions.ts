import type { WaitingFor } from '../../core/contract.ts';
import type { HistoryEvent } from '../../core/history.ts';
import { stepsOf } from '../../core/steps.ts';
import type { AgentOutcome, AnyStep, UndoableStep } from '../../core/steps.ts';
import { orderStep } from './run.ts';
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

/** The order's step is done; the next one begins, or, after the last one, the run has ended. */
export function advance(run: Run, detail?: string, found: Partial<RunState> = {}): Moved {
  const step = orderStep(run.step);
  const history: HistoryEvent[] = [
    { type: 'step-done', step, ...(detail === undefined ? {} : { detail }) },
  ];
  const steps = stepsOf(run.version);
  const next = steps[steps.indexOf(step) + 1];
  const state = { ...run.state, ...found };
  if (next) {
    return { run: { ...run, ...FRESH, step: next, status: 'running', state }, history };
  }
  const ended = end({ ...run, state }, 'completed');
  return { run: ended.run, history: [...history, ...ended.history] };
}

/** Where the step itself says what comes next: the same step once more is a new one, with fresh budgets. */
export function goOn(run: Run, step: AnyStep, found: Partial<RunState> = {}): Run {
  return { ...run, ...FRESH, step, status: 'running', state: { ...run.state, ...found } };
}

/** Ends a run that has nothing to undo. */
export function stop(run: Run, outcome: AgentOutcome, reason: string): Moved {
  const ending: Ending = { kind: 'end', outcome, reason };
  return end({ ...run, state: { ...run.state, ending } }, outcome, reason);
}

export function end(run: Run, outcome: AgentOutcome, reason?: string): Moved {
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
      attempts: waits || parkedFor === 'child' ? 0 : run.attempts,
    },
    history: [],
  };
}

/** An operator has it tried again: the step, or the undo, with a fresh budget. */
export function resume(run: Run): Run {
  const state: RunState = { ...run.state };
  delete state.failedUndo;
  const status = state.ending ? 'compensating' : 'running';
  // Nobody has begun yet: the take counts the attempt.
  return { ...run, ...FRESH, attempts: 0, status, reason: null, state };
}
