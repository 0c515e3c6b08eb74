import type { ClientBase } from 'pg';
import type { Performed } from '../ledger/effect.ts';
import type { Lease } from './fence.ts';
import type { AnyInput } from './input.ts';
import type { Run } from './run.ts';
import type { Moved } from './transitions.ts';

/** What becomes of the wake-up when the holder lets go. */
export type LetGo = 'ack' | 'come-back' | 'dead';

export type Write = (tx: ClientBase, now: Date) => Promise<void>;

export interface Change extends Moved {
  /** Absent: goes on with the run. */
  letGo?: LetGo | undefined;
  /** More rows for the same transaction: ledger, gate, timers, join, the application's own. */
  write?: Write | undefined;
}

/** What a worker knows of a run when it takes it. */
export interface Taken {
  lease: Lease;
  run: Run;
  input: AnyInput;
  /** The `wake_seq` up to which the inbox has been read. */
  seenSeq: string;
  message: { messageId: string; receipt: string };
}

/** A run in the hands of this worker. */
export interface Holding extends Taken {
  /** As the database has it; `run` is ahead of it by what is carried. */
  saved: Run;
  /** Steps that are done and not yet committed. Only the first can have had an effect. */
  carried: Change[];
  /** Effects that happened and are not committed yet: kept as evidence should the lease be gone. */
  learnt: Performed<unknown>[];
  /** Aborts when a heartbeat sees that something came from outside after the last commit. */
  news: AbortController;
}

/** A run just taken: memory and database say the same. */
export function hold(taken: Taken): Holding {
  return { ...taken, saved: taken.run, ...nothingOpen() };
}

/** The same again after a commit. */
export function committed(holding: Holding, run: Run, seenSeq: string): void {
  Object.assign(holding, { run, saved: run, seenSeq, ...nothingOpen() });
}

function nothingOpen(): Pick<Holding, 'carried' | 'learnt' | 'news'> {
  return { carried: [], learnt: [], news: new AbortController() };
}

/**
 * Keeps a finished step for the transaction that begins the next one, so that a step costs one commit
 * and not two. Nobody outside is asked anything in between; a crash there finds the intent in the
 * ledger, as one just before a commit of its own would.
 */
export function carry(holding: Holding, change: Change): void {
  holding.carried.push(change);
  holding.run = change.run;
}
