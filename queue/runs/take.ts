import type { ClientBase } from 'pg';
import { withTransaction } from '../database.ts';
import type { ReceivedMessage } from '../transport/contract.ts';
import { claim } from './claim.ts';
import type { Engine } from './engine.ts';
import type { Holding } from './hold.ts';
import { queueOfRun } from './inbox.ts';
import { loadInputOf } from './input.ts';
import { isLockTimeout, lockRunInTime } from './lock-run.ts';
import type { LockedRun } from './lock-run.ts';
import { SUSPECT_DELAY_MS } from './suspects.ts';

/** How long a run whose version nobody here has is left to those who have it. */
const UNSERVED_DELAY_MS = 2_000;

/** How long the message of a run waits whose row somebody has had locked for longer than anybody should. */
const LOCKED_DELAY_MS = 200;

/** Why a wake-up led to no work. Its message is settled in every case. */
export type NotTaken =
  | 'no-such-run'
  | 'locked'
  | 'held'
  | 'unserved'
  | 'suspect'
  | 'nothing-to-do'
  | 'not-due'
  | 'stuck';

/**
 * Takes the lease of the run that a wake-up names: raises the fencing token, counts the attempt (or
 * the worker that was lost before) and reads the inbox, in one transaction. A step that kills its
 * worker is counted all the same, because the count is made before the work.
 */
export async function take(
  engine: Engine,
  runId: string,
  message: ReceivedMessage,
  mayBeSuspect: boolean,
): Promise<Holding | NotTaken> {
  try {
    return await withTransaction(engine.pool, (tx) =>
      takeLocked(tx, engine, runId, message, mayBeSuspect),
    );
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    // Nothing of the run was looked at, so the message must not come nearer to the dead letters.
    const again = { delayMs: LOCKED_DELAY_MS, uncounted: true, reason: "the run's row is locked" };
    await engine.transport.nack(queueOfRun(runId), message.receipt, again);
    return 'locked';
  }
}

async function takeLocked(
  tx: ClientBase,
  engine: Engine,
  runId: string,
  message: ReceivedMessage,
  mayBeSuspect: boolean,
): Promise<Holding | NotTaken> {
  const { transport } = engine;
  const queue = queueOfRun(runId);
  const row = await lockRunInTime(tx, runId, message.visibleAgainAt);
  if (!row) {
    await transport.deadLetter(queue, message.receipt, `no run ${runId}`, tx);
    return 'no-such-run';
  }
  if (row.status === 'ended' && row.wake_seq === row.seen_seq) {
    // Redriven long after: the run's input may be pruned by now, its version served nowhere.
    await transport.ack(queue, message.receipt, tx);
    return 'nothing-to-do';
  }
  if (row.held) return meetHeldLease(tx, engine, row, message);
  const comeBack = (delayMs: number, reason: string) =>
    transport.nack(queue, message.receipt, { delayMs, uncounted: true, reason }, tx);
  if (!engine.pipelines.serves(row.version)) {
    await comeBack(UNSERVED_DELAY_MS, 'unserved version');
    return 'unserved';
  }
  if (!mayBeSuspect && (row.lost_workers > 0 || row.lease_until !== null)) {
    await comeBack(SUSPECT_DELAY_MS, 'another suspect is being tried');
    return 'suspect';
  }
  const input = await loadInputOf(tx, runId, row.revision);
  return claim(tx, engine, row, input, message);
}

/**
 * Another wake-up of a held run is acked: its holder looks at `wake_seq` before it lets go, so raising
 * that is all there is to do. The holder's own message, delivered again, comes back when the lease has
 * run out: should the holder be dead, it is the only wake-up there is.
 */
async function meetHeldLease(
  tx: ClientBase,
  { transport }: Engine,
  row: LockedRun,
  { messageId, receipt }: ReceivedMessage,
): Promise<NotTaken> {
  const queue = queueOfRun(row.id);
  if (messageId === row.message_id) {
    const delayMs = Math.ceil(row.held_ms ?? 0) + 10;
    const reason = 'lease held';
    await transport.nack(queue, receipt, { delayMs, uncounted: true, reason }, tx);
  } else {
    await tx.query('UPDATE queue.run SET wake_seq = wake_seq + 1 WHERE id = $1', [row.id]);
    await transport.ack(queue, receipt, tx);
  }
  return 'held';
}
