import type { ClientBase } from 'pg';
import { openDeadLetter } from '../dead-letters/open-dead-letter.ts';
import { resolveDeadLetter } from '../dead-letters/resolve.ts';
import { currentUndo } from '../ledger/undoable.ts';
import type { ReceivedMessage } from '../transport/contract.ts';
import { absorb } from './absorb.ts';
import { recordAttempt } from './attempts.ts';
import { closeWaits } from './close-waits.ts';
import type { Engine } from './engine.ts';
import { giveUp } from './failing.ts';
import { appendHistory } from './history.ts';
import { hold } from './hold.ts';
import type { Holding } from './hold.ts';
import { drainInbox, queueOfRun } from './inbox.ts';
import type { AnyInput } from './input.ts';
import type { LockedRun } from './lock-run.ts';
import { toRun } from './run.ts';
import type { Run } from './run.ts';
import { saveRun } from './save.ts';

/**
 * Claims a run that nobody holds and whose row is locked: reads its inbox, counts the start, or the
 * worker that was lost, and raises the token. Returns why not when there is nothing to work on.
 */
export async function claim(
  tx: ClientBase,
  engine: Engine,
  row: LockedRun,
  input: AnyInput,
  message: ReceivedMessage,
): Promise<Holding | 'not-due' | 'nothing-to-do' | 'stuck'> {
  const { transport, metrics } = engine;
  const { messageId, receipt } = message;
  const before = toRun(row);
  const entries = row.wake_seq === row.seen_seq ? [] : await drainInbox(tx, row.id);
  const { run: absorbed, history } = absorb(before, input, entries, true);
  if (absorbed.state.ending && !before.state.ending) await closeWaits(tx, row.id);
  await appendHistory(tx, row.id, history);
  const { cancel } = absorbed.state;
  if (before.status === 'stuck' && absorbed.status !== 'stuck' && cancel) {
    const resolution = { resolution: 'discarded', by: cancel.by, why: cancel.reason } as const;
    await resolveDeadLetter(tx, transport, row.id, resolution);
  }

  const notDue = absorbed.parkedFor === 'retry' && row.due === false;
  if (absorbed.status === 'ended' || absorbed.status === 'stuck' || notDue) {
    await tx.query('UPDATE queue.run SET seen_seq = wake_seq WHERE id = $1', [row.id]);
    await transport.ack(queueOfRun(row.id), receipt, tx);
    return notDue ? 'not-due' : 'nothing-to-do';
  }

  // A lease that nobody gave back: its worker was lost, and that has a budget of its own.
  const lost = row.lease_until !== null;
  if (lost) {
    metrics.lostWorkers.inc({ step: absorbed.step });
    await recordAttempt(tx, absorbed, row.token, {
      failureClass: 'lost-worker',
      message: 'the worker was lost before it could say what happened',
    });
  }
  const counted = countStart(absorbed, { lost, moved: absorbed !== before });
  if (counted.lostWorkers > input.policy.maxLostWorkers) {
    const undo = await currentUndo(tx, counted);
    const reason = `${counted.lostWorkers} workers were lost in this step`;
    const stuck = giveUp(counted, reason, row.now, undo?.step);
    await appendHistory(tx, row.id, stuck.history);
    await saveRun(tx, stuck.run);
    await letGoAsStuck(tx, row.id);
    const answer = await transport.deadLetter(queueOfRun(row.id), receipt, reason, tx);
    await openDeadLetter(tx, stuck.run, { reason, messageId: answer === 'ok' ? messageId : null });
    return 'stuck';
  }

  await saveRun(tx, counted);
  const { heartbeatMs } = input.policy;
  const { token, leasedAt } = await raiseToken(tx, engine, row.id, heartbeatMs, messageId);
  const lease = { runId: row.id, token, leaseMs: heartbeatMs, leasedAt, worker: engine.worker };
  const held = { messageId, receipt };
  return hold({ lease, run: counted, input, seenSeq: row.wake_seq, message: held });
}

/** Looking again at a wait is no attempt; a start, and a retry that has become due, is one. */
function countStart(run: Run, { lost, moved }: { lost: boolean; moved: boolean }): Run {
  const starts = !moved && (run.parkedFor === null || run.parkedFor === 'retry');
  return {
    ...run,
    parkedFor: starts ? null : run.parkedFor,
    nextAttemptAt: null,
    attempts: run.attempts + (starts ? 1 : 0),
    lostWorkers: run.lostWorkers + (lost ? 1 : 0),
  };
}

async function raiseToken(
  tx: ClientBase,
  engine: Engine,
  runId: string,
  leaseMs: number,
  messageId: string,
): Promise<{ token: string; leasedAt: Date }> {
  const { rows } = await tx.query<{ token: string; leased_at: Date }>({
    name: 'run-raise-token',
    text: `
      UPDATE queue.run SET
        token = token + 1, leased_at = statement_timestamp(),
        lease_until = statement_timestamp() + $2 * interval '1 millisecond',
        seen_seq = wake_seq, worker = $3, message_id = $4
      WHERE id = $1
      RETURNING token, leased_at`,
    values: [runId, leaseMs, engine.worker, messageId],
  });
  const [row] = rows;
  if (!row) throw new Error(`${runId} is gone`);
  return { token: row.token, leasedAt: row.leased_at };
}

/** The token goes up here too, so that a worker that was taken for lost can't write any more. */
async function letGoAsStuck(tx: ClientBase, runId: string): Promise<void> {
  await tx.query(
    `UPDATE queue.run SET token = token + 1, lease_until = NULL, seen_seq = wake_seq WHERE id = $1`,
    [runId],
  );
}
