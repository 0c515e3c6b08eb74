import type { WaitingFor } from '../../core/contract.ts';
import { parseBusinessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Money } from '../../core/order/money.ts';
import type { Outcome, Status, Step, UndoableStep } from '../../core/steps.ts';

/** Why nobody works on a run that has not ended. */
export type ParkedFor = 'retry' | 'gate' | 'date' | 'join' | 'operator';

/** What a run does once everything it did is undone: end, or start over with a corrected order. */
export type Ending = { kind: 'end'; outcome: Outcome; reason?: string } | { kind: 'start-over' };

/** What the steps found out and later steps need. Small: it is rewritten with every step. */
export interface RunState {
  payable?: Money;
  score?: number;
  /** Set while the run compensates. */
  ending?: Ending;
  /** The undo that used up its budget: the run is stuck in it, not in its step. */
  failedUndo?: UndoableStep;
  /** An operator left an undo to people, so the old revision is not wholly undone. */
  leftToPeople?: true;
  /** The cancel that was honoured: the same request once more says nothing new. */
  cancel?: { by: string; reason: string };
}

/** A run's position as its holder carries it in memory. Only the holder of the lease changes it. */
export interface Run {
  id: string;
  revision: number;
  version: string;
  step: Step;
  status: Status;
  parkedFor: ParkedFor | null;
  waitingFor: WaitingFor | null;
  outcome: Outcome | null;
  reason: string | null;
  /** Starts of the step in progress. */
  attempts: number;
  lostWorkers: number;
  failures: number;
  missingFailures: number;
  lastFailure: string | null;
  nextAttemptAt: Date | null;
  state: RunState;
}

/** Columns of `queue.run` that make up a `Run`. */
export const RUN_COLUMNS = `
  id, revision, version, step, status, parked_for, waiting_for, outcome, reason, attempts,
  lost_workers, failures, missing_failures, last_failure, next_attempt_at, state`;

export interface RunRow {
  id: string;
  revision: number;
  version: string;
  step: Step;
  status: Status;
  parked_for: ParkedFor | null;
  waiting_for: WaitingFor | null;
  outcome: Outcome | null;
  reason: string | null;
  attempts: number;
  lost_workers: number;
  failures: number;
  missing_failures: number;
  last_failure: string | null;
  next_attempt_at: Date | null;
  state: RunState;
}

export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    revision: row.revision,
    version: row.version,
    step: row.step,
    status: row.status,
    parkedFor: row.parked_for,
    waitingFor: row.waiting_for,
    outcome: row.outcome,
    reason: row.reason,
    attempts: row.attempts,
    lostWorkers: row.lost_workers,
    failures: row.failures,
    missingFailures: row.missing_failures,
    lastFailure: row.last_failure,
    nextAttemptAt: row.next_attempt_at,
    state: row.state,
  };
}

export function orderIdOfRun(runId: string): OrderId {
  return parseBusinessKey(runId);
}
