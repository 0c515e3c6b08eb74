import type { CancelResult, WaitingFor } from '../../core/contract.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { OrderId } from '../../core/identity.ts';
import type { RunInput } from '../../core/order/run-input.ts';
import type { AgentOutcome, AgentStep } from '../../core/steps.ts';
import type { Call, Partners } from '../../partners/contract.ts';
import type { Effect, Performed } from '../ledger/effect.ts';
import type { AgentParts } from '../runs/engine.ts';
import type { Write } from '../runs/hold.ts';
import type { AnyInput } from '../runs/input.ts';
import type { ParkedFor, Run, RunState } from '../runs/run.ts';
import type { Db, Transport } from '../transport/contract.ts';

/** What a step may use. It writes nothing itself: what it wants written goes into its result. */
export interface StepContext<Input extends AnyInput = RunInput> {
  id: OrderId;
  run: Run;
  input: Input;
  partners: Partners;
  agent: AgentParts | undefined;
  transport: Transport;
  /** Asks for an order to be cancelled, in a transaction of its own: its row may be locked for a while. */
  cancelOrder: (id: OrderId, request: { by: string; reason: string }) => Promise<CancelResult>;
  /** Reads only; a write here would carry no fencing token. */
  db: Db;
  /** By the clock of the database, the only one that counts. */
  now: () => Promise<Date>;
  /** Intent, ask, act: the outcome is written with the step's result. */
  perform: <Outcome>(
    effect: Omit<Effect<Outcome>, 'runId' | 'revision'>,
  ) => Promise<Performed<Outcome>>;
  /**
   * Asks a partner for what is no effect. As that can be asked again, nobody waits for the answer when
   * something else comes from outside: then it throws Interrupted, and the step is looked at anew.
   */
  read: <T>(ask: (call: Call) => Promise<T>) => Promise<T>;
}

/** `write`: the application's and the step's own rows, in the transaction that moves the run. */
export type StepResult =
  | {
      kind: 'done';
      detail?: string;
      found?: Partial<RunState>;
      performed?: Performed<unknown>;
      write?: Write;
    }
  /** The same of the agent's steps, which say what happened and what comes next. */
  | {
      kind: 'next';
      next: AgentStep;
      found: Partial<RunState>;
      history: HistoryEvent[];
      performed?: Performed<unknown>;
      write?: Write;
    }
  /** The step has learnt something and is to look again, within the same budgets. */
  | { kind: 'look-again'; found: Partial<RunState>; history: HistoryEvent[] }
  /** Lets go of the run until something wakes it; then the same step looks again. */
  | {
      kind: 'park';
      parkedFor: ParkedFor;
      waitingFor?: WaitingFor;
      found?: Partial<RunState>;
      history?: HistoryEvent[];
      write?: Write;
    }
  /** What the step depends on is lost for good: an operator has to look. */
  | { kind: 'give-up'; reason: string }
  | {
      kind: 'end';
      outcome: AgentOutcome;
      reason: string;
      found?: Partial<RunState>;
      history?: HistoryEvent[];
      performed?: Performed<unknown>;
      write?: Write;
    };

/** A failure of which its step has more to say than the engine knows. */
export class ToldFailure extends Error {
  override readonly name = 'ToldFailure';
  /** What failed: the next attempt goes by this. */
  readonly told: unknown;
  /** Kept whether or not there is another attempt. */
  readonly learnt: Extract<StepResult, { kind: 'look-again' }> | undefined;
  /** Where the run goes instead of to an operator. */
  readonly onGiveUp: Extract<StepResult, { kind: 'next' }> | undefined;
  constructor(told: Error, more: Partial<Pick<ToldFailure, 'learnt' | 'onGiveUp'>>) {
    super(told.message, { cause: told });
    this.told = told;
    this.learnt = more.learnt;
    this.onGiveUp = more.onGiveUp;
  }
}

/** Throws StepFailure, ToldFailure, or what `perform` throws. */
export type StepCode<Input extends AnyInput = RunInput> = (
  context: StepContext<Input>,
) => Promise<StepResult>;

/** Takes back what a step did under this revision. `happened` is false when there was nothing. */
export type UndoCode = (
  context: StepContext,
) => Promise<{ happened: boolean; performed?: Performed<unknown> }>;
