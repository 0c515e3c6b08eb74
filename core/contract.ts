import type { ConflictKind, HistoryEntry } from './history.ts';
import type { OrderId } from './identity.ts';
import type { Order } from './order/schema.ts';
import type { Policy } from './policy.ts';
import type { AgentOutcome, AnyStep, Outcome, Status, Step } from './steps.ts';
import type { Versions } from './versions.ts';

/** `chain`, `queue` and `temporal` are implementations, never versions: a version is a state of the code. */
export const IMPLEMENTATIONS = ['chain', 'queue', 'temporal'] as const;
export type Implementation = (typeof IMPLEMENTATIONS)[number];

/** An honest "this implementation can't", with the reason to show. */
export interface Cannot {
  kind: 'cannot';
  reason: string;
}

export type SubmitResult<O extends AgentOutcome = Outcome> =
  | { kind: 'started'; id: OrderId }
  | { kind: 'already-running'; id: OrderId }
  | { kind: 'already-finished'; id: OrderId; outcome?: O }
  /** The same buyer and reference with other content: never "already there". */
  | { kind: 'conflict'; id: OrderId; reason: string };

/** A wait for a person: the question has a name and a version, and an answer names both. */
export interface Gate {
  gate: string;
  gateVersion: number;
  /** Who is asked, a role. */
  who: string;
  /** ISO 8601. */
  since: string;
  until?: string;
}

export type WaitingFor =
  | ({ kind: 'person' } & Gate)
  | { kind: 'date'; what: string; since: string; until: string }
  /** A stuck run waits for an operator: replay, fix or discard. */
  | { kind: 'operator'; reason: string; since: string };

/**
 * Why nothing that runs can go on with a run, though nothing is wrong with its order: the code can't take
 * it up, or no worker has its version. It needs other code; replaying the step would not help.
 */
export interface Stalled {
  since: string;
  /** In words: by which version, at which event, what the history says there and what the code does. */
  reason: string;
  /** The version of the code that can't, as far as it is known. */
  version?: string;
  /** The first event of the run's history that the code does not come to, where there is such a history. */
  eventId?: number;
  /** The event that a reset goes back to unless told otherwise; absent where no reset would help. */
  resetTo?: number;
}

/** Where a run is, of whatever kind. Times are ISO 8601 in UTC. */
export interface RunPosition<S extends AnyStep = AnyStep, O extends AgentOutcome = AgentOutcome> {
  id: OrderId;
  implementation: Implementation;
  step: S;
  status: Status;
  outcome?: O;
  reason?: string;
  waitingFor?: WaitingFor;
  /** With the status `stuck`: what it waits for besides counts when there is code for it again. */
  stalled?: Stalled;
  /** Attempts of the step in progress, 0 when none is. */
  attempts: number;
  lastFailure?: string;
  /** When the next attempt is due, while the status is `retrying`. ISO 8601. */
  nextAttemptAt?: string;
  /** Since when the run has been at this step in this status. */
  since: string;
  startedAt: string;
  endedAt?: string;
  /** The version of the code the run started with. */
  version: string;
  /** In words, from a live worker when one answers (`133 of 240 lines priced`). */
  progress?: string;
  history: HistoryEntry[];
  /** How many entries before the first one here were dropped, where a history is bounded. */
  historyCut?: number;
}

/** Where an order is. */
export interface Position extends RunPosition<Step, Outcome> {
  revision: number;
}

export type WhereResult<P = Position> =
  { kind: 'position'; position: P } | { kind: 'not-found' } | Cannot;

export interface Decision {
  gate: string;
  gateVersion: number;
  decision: 'approve' | 'reject';
  by: string;
  note?: string;
}

export type DecideResult =
  | { kind: 'accepted' }
  | { kind: 'conflict'; conflict: ConflictKind; reason: string }
  | { kind: 'not-found' }
  /** Nothing could answer in time. Repeating it is safe: the same answer has the same id. */
  | { kind: 'not-confirmed'; reason: string }
  | Cannot;

export type CancelResult =
  /**
   * Durable: it will be honoured unless the invoice is out by then, and `where` shows which. `stalled`:
   * why not before there is other code.
   */
  | { kind: 'requested'; stalled?: string }
  | { kind: 'conflict'; conflict: 'ended'; reason: string }
  | { kind: 'not-found' }
  | Cannot;

export interface RunFilter {
  status?: Status;
  step?: Step;
  orderRef?: string;
  buyerId?: string;
  /** At most this many, newest first. Default 100. */
  limit?: number;
}

export interface RunSummary<S extends AnyStep = Step, O extends AgentOutcome = Outcome> {
  id: OrderId;
  step: S;
  status: Status;
  outcome?: O;
  waitingFor?: string;
  startedAt: string;
  endedAt?: string;
}

export type ListResult<R = RunSummary> = { kind: 'runs'; runs: R[] } | Cannot;

/** A message or run that used up its budget, with what an operator needs to judge it. */
export interface DeadLetter {
  id: OrderId;
  step: AnyStep;
  since: string;
  reason: string;
  attempts: { at: string; failureClass: string; message: string }[];
}

export type OperatorResult =
  | { kind: 'accepted' }
  | { kind: 'conflict'; reason: string }
  | { kind: 'not-found' }
  | { kind: 'not-confirmed'; reason: string }
  | Cannot;

export type ResetResult =
  | {
      kind: 'reset';
      /** Everything from this event on was dropped. */
      toEvent: number;
      /** Steps that had been done in what was dropped, and are taken again; their effects keep their keys. */
      again: string[];
      /** Answers and requests from outside that came in what was dropped, and are given to the run again. */
      sentAgain: string[];
    }
  | { kind: 'conflict'; reason: string }
  | { kind: 'not-found' }
  | Cannot;

/** Every operator action carries a name and a why. */
export interface OperatorAction {
  by: string;
  why: string;
}

export interface DeadLetters {
  list(): Promise<{ kind: 'dead-letters'; deadLetters: DeadLetter[] } | Cannot>;
  /** Tries the step again; the ledger or the effect key decides what is repeated: nothing. */
  replay(id: OrderId, action: OperatorAction): Promise<OperatorResult>;
  /** Gives the run up: what was done is undone, the run ends as `discarded`. */
  discard(id: OrderId, action: OperatorAction): Promise<OperatorResult>;
  /** Goes on with a corrected order, under the next business revision. Before and after are kept. */
  fix(id: OrderId, action: OperatorAction & { order: Order }): Promise<OperatorResult>;
}

/**
 * What chain, queue and temporal have in common, so that the lab, the console, the command line and
 * the parity tests need not know which one they drive.
 */
export interface Pipeline {
  readonly implementation: Implementation;
  /** Idempotent by the order's identity and content. `policy` defaults to the shared one. */
  submit(order: Order, policy?: Policy): Promise<SubmitResult>;
  /** Never needs a live worker. */
  where(id: OrderId): Promise<WhereResult>;
  /** Answers a pause; a late, early, second or wrong-gate answer is a conflict with an entry in the history. */
  decide(id: OrderId, decision: Decision): Promise<DecideResult>;
  /** Stops and compensates; name and reason end up in the history. */
  cancel(id: OrderId, by: string, reason: string): Promise<CancelResult>;
  list(filter?: RunFilter): Promise<ListResult>;
  /**
   * Takes a run back to before the code that is running left its history, or to before `toEvent`, from where
   * that code goes on.
   */
  reset(id: OrderId, action: OperatorAction & { toEvent?: number }): Promise<ResetResult>;
  readonly deadLetters: DeadLetters;
  readonly versions: Versions;
  close(): Promise<void>;
}
