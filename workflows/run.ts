import type { Totals } from '../core/order/totals.ts';
import type { Position, RunPosition } from '../core/contract.ts';
import type { OpenedGate } from '../core/decisions.ts';
import type { FailureClass } from '../core/failures.ts';
import type { OrderId } from '../core/identity.ts';
import type { RunInput } from '../core/order/run-input.ts';
import type { Order } from '../core/order/schema.ts';
import type { AgentOutcome, AnyStep, Outcome, Step, UndoableStep } from '../core/steps.ts';
import type { OperatorCommand } from './definitions.ts';

/** What a run remembers, of whatever kind: its position, and what people are and were asked. */
export interface AnyRun<S extends AnyStep = AnyStep, O extends AgentOutcome = AgentOutcome> {
  readonly id: OrderId;
  position: RunPosition<S, O>;
  gates: OpenedGate[];
  question?: OperatorQuestion;
  /** What made the run stuck, newest last. */
  failures: RecordedFailure[];
}

/** All that one order's run remembers. Workflow functions take it as their first argument; nothing is kept elsewhere. */
export interface Run extends AnyRun<Step, Outcome> {
  /** The order as it is now: a fix replaces it. */
  input: RunInput;
  position: Position;
  /** Unit prices by line id, kept so that a replayed step asks only for the missing ones. */
  prices: Map<string, string>;
  totals?: Totals;
  /** In the order in which the steps were begun. */
  undos: Undo[];
  /** False from the invoice on, and while the run is on its way out: a cancel is too late then. */
  cancellable: boolean;
  cancel?: CancelRequest;
}

export interface CancelRequest {
  by: string;
  reason: string;
  /** Cancelled by Temporal's own request, so the run ends as Canceled there too. */
  native: boolean;
}

export interface Undo {
  step: UndoableStep;
  /** True once the step has reported: nothing is on its way any more. */
  reported: boolean;
  /** Returns false when there was nothing to undo. */
  work: (again: boolean) => Promise<boolean>;
}

/** What a stuck run asks an operator. */
export interface OperatorQuestion {
  /** The order that a fix replaces, or why a fix is no answer here. */
  fix: { order: Order } | { no: string };
  answer?: OperatorCommand;
}

export interface RecordedFailure {
  at: string;
  failureClass: FailureClass;
  message: string;
}

/** How and why the run leaves its steps. */
export type Stop =
  { kind: 'end'; outcome: Outcome; reason?: string } | { kind: 'fix'; input: RunInput };

/** Thrown by a step to leave its steps; caught in one place, so it never reaches the engine. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly stop: Stop;

  constructor(stop: Stop) {
    super(stop.kind);
    this.stop = stop;
  }
}

/** What an order's workflow returns. Every business outcome is a normal return. */
export interface RunResult {
  outcome: Outcome;
  reason?: string;
  totals?: Totals;
  position: Position;
}
