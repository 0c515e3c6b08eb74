import type { WaitingFor } from '../../core/contract.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { OrderId } from '../../core/identity.ts';
import type { RunInput } from '../../core/order/run-input.ts';
import type { Outcome } from '../../core/steps.ts';
import type { Call, Partners } from '../../partners/contract.ts';
import type { Effect, Performed } from '../ledger/effect.ts';
import type { Write } from '../runs/hold.ts';
import type { ParkedFor, Run, RunState } from '../runs/run.ts';
import type { Db, Transport } from '../transport/contract.ts';

/** What a step may use. It writes nothing itself: what it wants written goes into its result. */
export interface StepContext {
  id: OrderId;
  run: Run;
  input: RunInput;
  partners: Partners;
  transport: Transport;
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
  /** Lets go of the run until something wakes it; then the same step looks again. */
  | {
      kind: 'park';
      parkedFor: ParkedFor;
      waitingFor?: WaitingFor;
      history?: HistoryEvent[];
      write?: Write;
    }
  /** What the step depends on is lost for good: an operator has to look. */
  | { kind: 'give-up'; reason: string }
  | {
      kind: 'end';
      outcome: Outcome;
      reason: string;
      history?: HistoryEvent[];
      performed?: Performed<unknown>;
      write?: Write;
    };

/** Throws StepFailure, or what `perform` throws. */
export type StepCode = (context: StepContext) => Promise<StepResult>;

/** Takes back what a step did under this revision. `happened` is false when there was nothing. */
export type UndoCode = (
  context: StepContext,
) => Promise<{ happened: boolean; performed?: Performed<unknown> }>;
