import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { fence, LeaseLost } from '../../../queue/runs/fence.ts';
import { handleWakeUp } from '../../../queue/runs/handle-wake-up.ts';
import { transition } from '../../../queue/runs/transition.ts';
import type { Holding } from '../../../queue/runs/hold.ts';
import { sweep } from '../../../queue/runs/sweep.ts';
import { take } from '../../../queue/runs/take.ts';
import { advance, end, park } from '../../../queue/runs/transitions.ts';
import { pipelinesOf } from '../../../queue/steps/pipelines.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { idleEngine, useIdle } from '../support/engine.ts';

describe('the lease of a run', () => {
  const on = useIdle();
  beforeEach(() => on.idle.engine.transport.purge('orders'));

  const wakeAgain = (runId: string) =>
    on.idle.engine.transport.send(on.idle.engine.pool, 'orders', [{ body: { runId } }]);
  const messages = async (runId: string) => {
    const { rowCount } = await on.bench.pool.query(
      `SELECT FROM queue.message WHERE body->>'runId' = $1`,
      [runId],
    );
    return rowCount;
  };

  test('a second wake-up that meets a held lease is acked, and its holder does not let go before it looked', async () => {
    const { runId, take: taken } = await on.submitted(quickPolicy);
    const holding = await taken();
    await wakeAgain(runId);
    const second = await on.receive();
    assert.ok(second);
    assert.equal(await take(on.idle.engine, runId, second, true), 'held');
    assert.equal(await messages(runId), 1);
    const parked = () =>
      transition(on.idle.engine, holding, (run) => ({ ...park(run, 'join', null), letGo: 'ack' }));
    assert.equal(await parked(), 'held');
    assert.equal(await parked(), 'released');
    assert.equal(await messages(runId), 0);
  });

  test("the holder's own message, delivered again, is not acked: it is the only wake-up there is", async () => {
    const { runId, message, take: taken } = await on.submitted(quickPolicy);
    await taken();
    await on.bench.pool.query('UPDATE queue.message SET visible_at = statement_timestamp()');
    const again = await on.receive();
    assert.equal(again?.messageId, message.messageId);
    assert.ok(again);
    assert.equal(await take(on.idle.engine, runId, again, true), 'held');
    assert.equal(await messages(runId), 1);
  });

  test('A1: the first holder of an expired lease can commit nothing alongside the second', async () => {
    const { runId, take: taken, lose } = await on.submitted(quickPolicy);
    const first = await taken();
    await lose();
    const second = await taken();
    const step = (holding: Holding) => transition(on.idle.engine, holding, (run) => advance(run));
    await assert.rejects(step(first), LeaseLost);
    assert.equal(await step(second), 'held');
    await assert.rejects(step(first), LeaseLost);
    const { rows } = await on.bench.pool.query(
      `SELECT count(*)::int AS n FROM queue.run_history
       WHERE run_id = $1 AND event->>'type' = 'step-done'`,
      [runId],
    );
    assert.deepEqual(rows, [{ n: 1 }]);
  });

  test('an order that is followed from when a worker has it already wakes whoever follows it', async () => {
    const { runId, take: taken } = await on.submitted(quickPolicy);
    const holding = await taken();
    const follower = `agent/${runId}`;
    await on.bench.pool.query('UPDATE queue.run SET parent_id = $2 WHERE id = $1', [
      runId,
      follower,
    ]);
    await transition(on.idle.engine, holding, (run) => ({
      ...end(run, 'completed'),
      letGo: 'ack',
    }));
    assert.equal(await messages(follower), 1);
  });

  test('an expired lease that nobody took is still the holder’s: it is fenced by its token, not by a clock', async () => {
    const { take: taken, lose } = await on.submitted(quickPolicy);
    const holding = await taken();
    await lose();
    assert.equal(await transition(on.idle.engine, holding, (run) => advance(run)), 'held');
  });

  test('a late heartbeat of a holder that has let go does not lock the run again', async () => {
    const { take: taken } = await on.submitted(quickPolicy);
    const holding = await taken();
    await transition(on.idle.engine, holding, (run) => ({
      ...park(run, 'join', null),
      letGo: 'ack',
    }));
    await assert.rejects(fence(on.idle.engine.pool, holding.lease), LeaseLost);
  });

  test('A3: an order ends once, whoever ends it again', async () => {
    const { id, runId, take: taken, lose } = await on.submitted(quickPolicy);
    const frozen = await taken();
    await lose();
    const worker = await on.bench.startWorker();
    await wakeAgain(runId);
    await on.bench.ended(id);
    await worker.stop();
    const before = await on.bench.position(id);
    await assert.rejects(
      transition(on.idle.engine, frozen, (run) => advance({ ...run, step: 'close' })),
      LeaseLost,
    );
    assert.deepEqual(await on.bench.position(id), before);
  });

  test('a cancel that is committed before the invoice begins is honoured even in the same moment', async () => {
    const { id, runId, take: taken } = await on.submitted(quickPolicy);
    const holding = await taken();
    holding.run = { ...holding.run, step: 'place' };
    await on.bench.pipeline.cancel(id, 'ada', 'stop');
    await transition(on.idle.engine, holding, (run) => advance(run));
    assert.equal(holding.run.status, 'compensating');
    assert.equal(runId, holding.run.id);
  });

  test('A25: a worker that drains hands its run back at once and at no cost', async () => {
    const { id, runId, message } = await on.submitted(quickPolicy);
    const own = await idleEngine(on.bench, 'test/draining');
    own.drain.abort();
    await handleWakeUp(own.engine, 'orders', message);
    await own.close();
    const { rows } = await on.bench.pool.query(
      'SELECT attempts, lost_workers, failures, lease_until FROM queue.run WHERE id = $1',
      [runId],
    );
    assert.deepEqual(rows, [{ attempts: 0, lost_workers: 0, failures: 0, lease_until: null }]);
    const back = await on.receive();
    assert.equal(back?.messageId, message.messageId);
    assert.equal((await on.bench.position(id)).status, 'running');
  });

  test('a worker leaves a run of a version it does not have to those who have it', async () => {
    const { id, runId, message } = await on.submitted(quickPolicy);
    await on.bench.pool.query(`UPDATE queue.run SET version = '3' WHERE id = $1`, [runId]);
    assert.equal(await take(on.idle.engine, runId, message, true), 'unserved');
    const { rows } = await on.bench.pool.query(
      'SELECT attempts, token FROM queue.run WHERE id = $1',
      [runId],
    );
    assert.deepEqual(rows, [{ attempts: 0, token: '0' }]);
    const version = pipelinesOf().of('2');
    const worker = await on.bench.startWorker({
      pipelines: pipelinesOf(new Map([['3', version]])),
    });
    await wakeAgain(runId);
    assert.equal((await on.bench.ended(id)).version, '3');
    await worker.stop();
  });

  test('a run whose only wake-up was lost is found by the sweep', async () => {
    const { id, runId } = await on.submitted(quickPolicy);
    await on.idle.engine.transport.purge('orders');
    await on.bench.pool.query(
      `UPDATE queue.run SET woken_at = woken_at - interval '1 hour' WHERE id = $1`,
      [runId],
    );
    const settings = { quietMs: 60_000, batch: 10 };
    assert.equal((await sweep(on.bench.pool, on.idle.engine.transport, settings)).runs, 1);
    assert.equal((await sweep(on.bench.pool, on.idle.engine.transport, settings)).runs, 0);
    const worker = await on.bench.startWorker();
    assert.equal((await on.bench.ended(id)).outcome, 'completed');
    await worker.stop();
  });

  test('a 2,000-line order does not hold up the one-line orders behind it', async () => {
    const worker = await on.bench.startWorker();
    const large = anOrder({ lines: 2_000 });
    const largeId = { buyerId: large.buyer.id, orderRef: large.orderRef };
    await on.bench.pipeline.submit(large, quickPolicy);
    await on.bench.until(largeId, ({ progress }) => progress !== undefined);
    const small = Array.from({ length: 5 }, () => anOrder());
    for (const order of small) await on.bench.pipeline.submit(order, quickPolicy);
    for (const { buyer, orderRef } of small) {
      assert.equal((await on.bench.ended({ buyerId: buyer.id, orderRef })).outcome, 'completed');
    }
    assert.equal((await on.bench.position(largeId)).step, 'price');
    await on.bench.pipeline.cancel(largeId, 'ada', 'enough');
    assert.equal((await on.bench.ended(largeId)).outcome, 'cancelled');
    await worker.stop();
  });
});
