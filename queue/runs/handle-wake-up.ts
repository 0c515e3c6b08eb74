import { z } from 'zod';
import { withTransaction } from '../database.ts';
import type { ReceivedMessage } from '../transport/contract.ts';
import type { Engine } from './engine.ts';
import { fence, LeaseLost } from './fence.ts';
import type { Holding } from './hold.ts';
import { queueOfRun, wake } from './inbox.ts';
import { take } from './take.ts';
import { walk } from './walk.ts';

const wakeUpSchema = z.object({ runId: z.string().min(1) });

/**
 * Handles one wake-up: takes the run's lease and walks. Never throws: what goes wrong here is either
 * somebody else's run by now, or comes back with the message.
 */
export async function handleWakeUp(
  engine: Engine,
  queue: string,
  message: ReceivedMessage,
): Promise<void> {
  const { transport, metrics } = engine;
  const body = wakeUpSchema.safeParse(message.body);
  if (!body.success) {
    await transport.deadLetter(queue, message.receipt, 'not a wake-up: no runId');
    return;
  }
  const { runId } = body.data;
  if (queueOfRun(runId) !== queue) return sendOn(engine, queue, runId, message);
  let reserved = engine.suspects.reserve();
  const free = () => {
    if (reserved) engine.suspects.free();
    reserved = false;
  };
  try {
    const taken = await take(engine, runId, message, reserved);
    if (typeof taken === 'string') {
      metrics.messages.inc({ queue, result: taken });
      return;
    }
    if (taken.run.lostWorkers === 0) free();
    await carryOut(engine, taken);
  } finally {
    free();
  }
}

/** A sweep of older code knows one queue only: its wake-up is put where those look who can take the run. */
async function sendOn(
  { pool, transport }: Engine,
  queue: string,
  runId: string,
  { receipt }: ReceivedMessage,
): Promise<void> {
  await withTransaction(pool, async (tx) => {
    if ((await transport.ack(queue, receipt, tx)) === 'ok') await wake(tx, transport, runId);
  });
}

async function carryOut(engine: Engine, holding: Holding): Promise<void> {
  const { metrics } = engine;
  const { runId, token } = holding.lease;
  const log = engine.log.child({ runId, token });
  try {
    await walk(engine, holding);
    metrics.messages.inc({ queue: queueOfRun(runId), result: 'walked' });
  } catch (error) {
    if (error instanceof LeaseLost) {
      metrics.leaseLosses.inc();
      log.warn({ err: error }, 'another worker has the run');
      return;
    }
    log.error({ err: error }, 'the run is left to the next worker');
    await leave(engine, holding).catch((failure: unknown) => {
      // The database is away: the lease runs out and the message comes back by themselves.
      log.error({ err: failure }, 'could not hand the run back');
    });
  }
}

/** Lets go without writing a position: the next worker goes on from what the database has. */
async function leave(engine: Engine, { lease, message }: Holding): Promise<void> {
  await withTransaction(engine.pool, async (tx) => {
    await fence(tx, lease);
    await tx.query('UPDATE queue.run SET lease_until = NULL WHERE id = $1', [lease.runId]);
    const again = { delayMs: 1_000, uncounted: true, reason: 'the database was away' };
    await engine.transport.nack(queueOfRun(lease.runId), message.receipt, again, tx);
  });
}
