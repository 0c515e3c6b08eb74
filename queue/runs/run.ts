import type { AgentState } from '../../core/agent/state.ts';
import type { WaitingFor } from '../../core/contract.ts';
import { parseBusinessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Money } from '../../core/order/money.ts';
import { STEPS } from '../../core/steps.ts';
import type { AgentOutcome, AnyStep, Status, Step, UndoableStep } from '../../core/steps.ts';

/** Why nobody works on a run that has not ended. */
export type ParkedFor = 'retry' | 'gate' | 'date' | 'join' | 'child' | 'operator';

/** What a run does once everything it did is undone: end, or start over with a corrected order. */
export type Ending =
  { kind: 'end'; outcome: AgentOutcome; reason?: string } | { kind: 'start-over' };

/** What the steps found out and later steps need. Small: it is rewritten with every step. */
export interface RunState {
  payable?: Money;
  score?: number;
  /** Of a run of the agent: all that it knows. */
  agent?: AgentState;
  /** The agent's order has been told of the cancel. */
  orderCancelled?: true;
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
  step: AnyStep;
  status: Status;
  parkedFor: ParkedFor | null;
  waitingFor: WaitingFor | null;
  outcome: AgentOutcome | null;
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

export interface RunRow<S extends AnyStep = AnyStep, O extends AgentOutcome = AgentOutcome> {
  id: string;
  revision: number;
  version: string;
  step: S;
  status: Status;
  parked_for: ParkedFor | null;
  waiting_for: WaitingFor | null;
  outcome: O | null;
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

export type RunKind = 'order' | 'agent';

const AGENT = 'agent/';

/** From the id alone: an order's is its business key, with one slash; the agent's has a word before that. */
export function kindOfRun(runId: string): RunKind {
  return runId.split('/').length === 3 && runId.startsWith(AGENT) ? 'agent' : 'order';
}

/** The buyer's own name for it. Throws a RangeError for what is no run's id. */
export function idOfRun(runId: string): OrderId {
  return parseBusinessKey(kindOfRun(runId) === 'agent' ? runId.slice(AGENT.length) : runId);
}

/** Throws for a step of the agent: whoever asks is about to speak of an order. */
export function orderStep(step: AnyStep): Step {
  const found = STEPS.find((each) => each === step);
  if (!found) throw new Error(`${step} is no step of an order`);
  return found;
}
