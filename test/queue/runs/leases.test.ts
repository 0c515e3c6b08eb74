import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Policy } from '../../../core/policy.ts';
import { fence, LeaseLost } from '../../../queue/runs/fence.ts';
import { handleWakeUp } from '../../../queue/runs/handle-wake-up.ts';
import { transition } from '../../../queue/runs/hold.ts';
import type { Holding } from '../../../queue/runs/hold.ts';
import { sweep } from '../../../queue/runs/sweep.ts';
import { take } from '../../../queue/runs/take.ts';
import { advance, park } from '../../../queue/runs/transitions.ts';
import { pipelinesOf } from '../../../queue/steps/pipelines.ts';
import { withTransaction } from '../../../queue/database.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { idleEngine } from '../support/engine.ts';
import type { IdleEngine } from '../support/engine.ts';

describe('the lease of a run', () => {
  let bench: QueueBench;
  let idle: IdleEngine;
  before(async () => {
    bench = await openBench({ workers: 0 });
    idle = await idleEngine(bench);
  });
  after(async () => {
    await idle.close();
    await bench.close();
  });
  beforeEach(() => idle.engine.transport.purge('orders'));

  const receive = async (): Promise<ReceivedMessage | undefined> => {
    const options = { max: 1, visibilityMs: 3_600_000, waitMs: 0 };
    return (await idle.engine.transport.receive('orders', options))[0];
  };
  async function submitted(changes: Partial<Policy> = {}) {
    const order = anOrder();
    const id = { buyerId: order.buyer.id, orderRef: order.orderRef };
    await bench.pipeline.submit(order, { ...quickPolicy, ...changes });
    const message = await receive();
    assert.ok(message);
    return { order, id, runId: `${id.buyerId}/${id.orderRef}`, message };
  }
  const taken = async (runId: string, message: ReceivedMessage): Promise<Holding> => {
    const holding = await take(idle.engine, runId, message, true);
    assert.ok(typeof holding !== 'string', `not taken: ${JSON.stringify(holding)}`);
    return holding;
  };
  const lose = (runId: string) =>
    bench.pool.query(
      `UPDATE queue.run SET lease_until = statement_timestamp() - interval '1 s' WHERE id = $1`,
      [runId],
    );
  const wakeAgain = (runId: string) =>
    idle.engine.transport.send(idle.engine.pool, 'orders', [{ body: { runId } }]);
  const messages = async (runId: string) => {
    const { rowCount } = await bench.pool.query(
      `SELECT FROM queue.message WHERE body->>'runId' = $1`,
      [runId],
    );
    return rowCount;
  };

  test('a second wake-up that meets a held lease is acked, and its holder does not let go before it looked', async () => {
    const { runId, message } = await submitted();
    const holding = await taken(runId, message);
    await wakeAgain(runId);
    const second = await receive();
    assert.ok(second);
    assert.equal(await take(idle.engine, runId, second, true), 'held');
    assert.equal(await messages(runId), 1);
    const parked = () =>
      transition(idle.engine, holding, (run) => ({ ...park(run, 'join', null), letGo: 'ack' }));
    assert.equal(await parked(), 'held');
    assert.equal(await parked(), 'released');
    assert.equal(await messages(runId), 0);
  });

  test("the holder's own message, delivered again, is not acked: it is the only wake-up there is", async () => {
    const { runId, message } = await submitted();
    await taken(runId, message);
    await bench.pool.query('UPDATE queue.message SET visible_at = statement_timestamp()');
    const again = await receive();
    assert.equal(again?.messageId, message.messageId);
    assert.ok(again);
    assert.equal(await take(idle.engine, runId, again, true), 'held');
    assert.equal(await messages(runId), 1);
  });

  test('A1: the first holder of an expired lease can commit nothing alongside the second', async () => {
    const { runId, message } = await submitted();
    const first = await taken(runId, message);
    await lose(runId);
    const second = await taken(runId, message);
    const step = (holding: Holding) => transition(idle.engine, holding, (run) => advance(run));
    await assert.rejects(step(first), LeaseLost);
    assert.equal(await step(second), 'held');
    await assert.rejects(step(first), LeaseLost);
    const { rows } = await bench.pool.query(
      `SELECT count(*)::int AS n FROM queue.run_history
       WHERE run_id = $1 AND event->>'type' = 'step-done'`,
      [runId],
    );
    assert.deepEqual(rows, [{ n: 1 }]);
  });

  test('an expired lease that nobody took is still the holder’s: it is fenced by its token, not by a clock', async () => {
    const { runId, message } = await submitted();
    const holding = await taken(runId, message);
    await lose(runId);
    assert.equal(await transition(idle.engine, holding, (run) => advance(run)), 'held');
  });

  test('a late heartbeat of a holder that has let go does not lock the run again', async () => {
    const { runId, message } = await submitted();
    const holding = await taken(runId, message);
    await transition(idle.engine, holding, (run) => ({ ...park(run, 'join', null), letGo: 'ack' }));
    await assert.rejects(
      withTransaction(idle.engine.pool, (tx) => fence(tx, holding.lease)),
      LeaseLost,
    );
  });

  test('A3: an order ends once, whoever ends it again', async () => {
    const { id, runId, message } = await submitted();
    const frozen = await taken(runId, message);
    await lose(runId);
    const worker = await bench.startWorker();
    await wakeAgain(runId);
    await bench.ended(id);
    await worker.stop();
    const before = await bench.position(id);
    await assert.rejects(
      transition(idle.engine, frozen, (run) => advance({ ...run, step: 'close' })),
      LeaseLost,
    );
    assert.deepEqual(await bench.position(id), before);
  });

  test('a cancel that is committed before the invoice begins is honoured even in the same moment', async () => {
    const { id, runId, message } = await submitted();
    const holding = await taken(runId, message);
    holding.run = { ...holding.run, step: 'place' };
    await bench.pipeline.cancel(id, 'ada', 'stop');
    await transition(idle.engine, holding, (run) => advance(run));
    assert.equal(holding.run.status, 'compensating');
    assert.equal(runId, holding.run.id);
  });

  test('A25: a worker that drains hands its run back at once and at no cost', async () => {
    const { id, runId, message } = await submitted();
    const own = await idleEngine(bench, 'test/draining');
    own.drain.abort();
    await handleWakeUp(own.engine, message);
    await own.close();
    const { rows } = await bench.pool.query(
      'SELECT attempts, lost_workers, failures, lease_until FROM queue.run WHERE id = $1',
      [runId],
    );
    assert.deepEqual(rows, [{ attempts: 0, lost_workers: 0, failures: 0, lease_until: null }]);
    const back = await receive();
    assert.equal(back?.messageId, message.messageId);
    assert.equal((await bench.position(id)).status, 'running');
  });

  test('a worker leaves a run of a version it does not have to those who have it', async () => {
    const { id, runId, message } = await submitted();
    await bench.pool.query(`UPDATE queue.run SET version = '2' WHERE id = $1`, [runId]);
    assert.equal(await take(idle.engine, runId, message, true), 'unserved');
    const { rows } = await bench.pool.query('SELECT attempts, token FROM queue.run WHERE id = $1', [
      runId,
    ]);
    assert.deepEqual(rows, [{ attempts: 0, token: '0' }]);
    const version = pipelinesOf().of('1');
    const worker = await bench.startWorker({ pipelines: pipelinesOf(new Map([['2', version]])) });
    await wakeAgain(runId);
    assert.equal((await bench.ended(id)).version, '2');
    await worker.stop();
  });

  test('a run whose only wake-up was lost is found by the sweep', async () => {
    const { id, runId } = await submitted();
    await idle.engine.transport.purge('orders');
    await bench.pool.query(
      `UPDATE queue.run SET woken_at = woken_at - interval '1 hour' WHERE id = $1`,
      [runId],
    );
    const settings = { quietMs: 60_000, batch: 10 };
    assert.equal((await sweep(bench.pool, idle.engine.transport, settings)).runs, 1);
    assert.equal((await sweep(bench.pool, idle.engine.transport, settings)).runs, 0);
    const worker = await bench.startWorker();
    assert.equal((await bench.ended(id)).outcome, 'completed');
    await worker.stop();
  });

  test('a 2,000-line order does not hold up the one-line orders behind it', async () => {
    const worker = await bench.startWorker();
    const large = anOrder({ lines: 2_000 });
    const largeId = { buyerId: large.buyer.id, orderRef: large.orderRef };
    await bench.pipeline.submit(large, quickPolicy);
    await bench.until(largeId, ({ progress }) => progress !== undefined);
    const small = Array.from({ length: 5 }, () => anOrder());
    for (const order of small) await bench.pipeline.submit(order, quickPolicy);
    for (const { buyer, orderRef } of small) {
      assert.equal((await bench.ended({ buyerId: buyer.id, orderRef })).outcome, 'completed');
    }
    assert.equal((await bench.position(largeId)).step, 'price');
    await bench.pipeline.cancel(largeId, 'ada', 'enough');
    assert.equal((await bench.ended(largeId)).outcome, 'cancelled');
    await worker.stop();
  });
});
