import type { ClientBase } from 'pg';
import { openDeadLetter } from '../dead-letters/open-dead-letter.ts';
import { setTimer } from '../timers/set-timer.ts';
import type { Engine } from './engine.ts';
import type { Holding, LetGo } from './hold.ts';
import { queueOfRun, wake } from './inbox.ts';
import type { Run } from './run.ts';

/** A longer wait is a timer, not a message: 900 s is all that SQS delays. */
const LONGEST_DELAY_MS = 900_000;

/** A stale receipt changes nothing here: the lease is what counts, a wake-up too many is harmless. */
export async function settleMessage(
  tx: ClientBase,
  { transport }: Engine,
  { message, lease }: Holding,
  { run, letGo, now }: { run: Run; letGo: LetGo; now: Date },
): Promise<void> {
  const { receipt, messageId } = message;
  const queue = queueOfRun(lease.runId);
  switch (letGo) {
    case 'ack':
      await transport.ack(queue, receipt, tx);
      return;
    case 'come-back': {
      const dueAt = run.nextAttemptAt ?? now;
      const delayMs = Math.max(0, dueAt.getTime() - now.getTime());
      if (delayMs > LONGEST_DELAY_MS) {
        await setTimer(tx, lease.runId, 'retry', dueAt);
        await transport.ack(queue, receipt, tx);
        return;
      }
      const answer = await transport.nack(
        queue,
        receipt,
        { delayMs, uncounted: true, reason: run.lastFailure ?? 'postponed' },
        tx,
      );
      if (answer === 'stale') await wake(tx, transport, lease.runId, delayMs);
      return;
    }
    case 'dead': {
      const reason = run.reason ?? 'stuck';
      const answer = await transport.deadLetter(queue, receipt, reason, tx);
      const dead = answer === 'ok' ? messageId : null;
      await openDeadLetter(tx, run, { reason, messageId: dead });
      return;
    }
    default:
      letGo satisfies never;
  }
}
