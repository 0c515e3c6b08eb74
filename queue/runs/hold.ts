import type { ClientBase } from 'pg';
import type { RunInput } from '../../core/order/run-input.ts';
import { withTransaction } from '../database.ts';
import { openDeadLetter } from '../dead-letters/open-dead-letter.ts';
import { setTimer } from '../timers/set-timer.ts';
import { closeWaits } from './close-waits.ts';
import type { Engine } from './engine.ts';
import { fence } from './fence.ts';
import type { Lease } from './fence.ts';
import { appendHistory } from './history.ts';
import { drainInbox, ORDERS_QUEUE, wake } from './inbox.ts';
import type { Run } from './run.ts';
import { saveRun } from './save.ts';
import { absorb } from './transitions.ts';
import type { Moved } from './transitions.ts';

/** A longer wait is a timer, not a message: 900 s is all that SQS delays. */
const LONGEST_DELAY_MS = 900_000;

/** A run in the hands of this worker. `run` and `seenSeq` move with every committed transition. */
export interface Holding {
  lease: Lease;
  run: Run;
  input: RunInput;
  /** The `wake_seq` up to which the inbox has been read. */
  seenSeq: string;
  message: { messageId: string; receipt: string };
}

/** What becomes of the wake-up when the holder lets go. */
export type LetGo = 'ack' | 'come-back' | 'dead';

export interface Change extends Moved {
  /** Absent: goes on with the run. */
  letGo?: LetGo | undefined;
  /** More rows for the same transaction: ledger, gate, timers, join, the application's own. */
  write?: ((tx: ClientBase, now: Date) => Promise<void>) | undefined;
}

/**
 * The connection broke while the commit was on its way: what this worker has in memory may be one
 * transition old, so it must not write again. Whoever takes the run next reads what is true.
 */
export class CommitUncertain extends Error {
  override readonly name = 'CommitUncertain';
  constructor(cause: unknown) {
    super('nobody knows whether the transition was committed', { cause });
  }
}

/**
 * One transition: position, history, whatever the step writes, and what the outside said meanwhile,
 * in one transaction under the fencing token. Returns whether the run is still ours. Throws LeaseLost,
 * and then nothing was written, or CommitUncertain.
 */
export async function transition(
  engine: Engine,
  holding: Holding,
  make: (run: Run, now: Date) => Change,
): Promise<'held' | 'released'> {
  const { lease } = holding;
  const before = holding.run;
  let written = false;
  const { run, wakeSeq, released } = await withTransaction(engine.pool, async (tx) => {
    const { wakeSeq, now } = await fence(tx, lease);
    const change = make(before, now);
    await change.write?.(tx, now);
    const woken = wakeSeq !== holding.seenSeq;
    const news = woken ? await drainInbox(tx, lease.runId) : [];
    // Under the same lock as the move itself: a cancel that came before the invoice began counts.
    const absorbed = absorb(change.run, news, change.run.step === before.step);
    const { run } = absorbed;
    if (run.state.ending && !before.state.ending) await closeWaits(tx, lease.runId);
    await appendHistory(tx, lease.runId, [...change.history, ...absorbed.history]);
    await saveRun(tx, run);
    const letGo = mayLetGo(run, change, woken) ? change.letGo : undefined;
    await markSeen(tx, lease, wakeSeq, letGo !== undefined);
    if (letGo) await settleMessage(tx, engine, holding, run, letGo, now);
    written = true;
    return { run, wakeSeq, released: letGo !== undefined };
  }).catch((error: unknown) => {
    throw written ? new CommitUncertain(error) : error;
  });
  holding.run = run;
  holding.seenSeq = wakeSeq;
  engine.metrics.transitions.inc({ step: before.step });
  return released ? 'released' : 'held';
}

/** A wait looks again when it was woken; a retry or an end has nothing to look for, unless a cancel moved the run. */
function mayLetGo(run: Run, change: Change, woken: boolean): boolean {
  if (run !== change.run && run.state.ending !== change.run.state.ending) return false;
  return !woken || run.parkedFor === 'retry' || run.status === 'ended' || run.status === 'stuck';
}

async function markSeen(
  tx: ClientBase,
  lease: Lease,
  wakeSeq: string,
  release: boolean,
): Promise<void> {
  await tx.query({
    name: 'run-mark-seen',
    text: `
      UPDATE queue.run SET seen_seq = $2, lease_until = CASE WHEN $3 THEN NULL ELSE lease_until END
      WHERE id = $1`,
    values: [lease.runId, wakeSeq, release],
  });
}

/** A stale receipt changes nothing here: the lease is what counts, a wake-up too many is harmless. */
async function settleMessage(
  tx: ClientBase,
  { transport }: Engine,
  { message, lease }: Holding,
  run: Run,
  letGo: LetGo,
  now: Date,
): Promise<void> {
  const { receipt, messageId } = message;
  switch (letGo) {
    case 'ack':
      await transport.ack(ORDERS_QUEUE, receipt, tx);
      return;
    case 'come-back': {
      const dueAt = run.nextAttemptAt ?? now;
      const delayMs = Math.max(0, dueAt.getTime() - now.getTime());
      if (delayMs > LONGEST_DELAY_MS) {
        await setTimer(tx, lease.runId, 'retry', dueAt);
        await transport.ack(ORDERS_QUEUE, receipt, tx);
        return;
      }
      const answer = await transport.nack(
        ORDERS_QUEUE,
        receipt,
        { delayMs, uncounted: true, reason: run.lastFailure ?? 'postponed' },
        tx,
      );
      if (answer === 'stale') await wake(tx, transport, lease.runId, delayMs);
      return;
    }
    case 'dead': {
      const reason = run.reason ?? 'stuck';
      const answer = await transport.deadLetter(ORDERS_QUEUE, receipt, reason, tx);
      const dead = answer === 'ok' ? messageId : null;
      await openDeadLetter(tx, run, { reason, messageId: dead });
      return;
    }
    default:
      letGo satisfies never;
  }
}
