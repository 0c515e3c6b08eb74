import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { withTransaction } from '../../../queue/database.ts';
import { take } from '../../../queue/runs/take.ts';
import { fireDueTimers } from '../../../queue/timers/fire-due.ts';
import { after as afterMs, setTimer } from '../../../queue/timers/set-timer.ts';
import { LimitError } from '../../../queue/transport/limits.ts';
import { openTransport } from '../../../queue/transport/open.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { idleEngine } from '../support/engine.ts';
import type { IdleEngine } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

const DAY = 86_400_000;

describe('a timer on the queue', () => {
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

  async function aRun(): Promise<string> {
    const order = anOrder();
    await bench.pipeline.submit(order, quickPolicy);
    return `${order.buyer.id}/${order.orderRef}`;
  }
  const set = (runId: string, name: string, at: Date) =>
    withTransaction(idle.engine.pool, (tx) => setTimer(tx, runId, name, at));
  const fire = () => fireDueTimers(idle.engine.pool, idle.engine.transport);
  async function fired(runId: string): Promise<number> {
    const { rows } = await bench.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM queue.run_inbox WHERE run_id = $1 AND entry->>'kind' = 'timer'`,
      [runId],
    );
    return rows[0]?.n ?? 0;
  }

  test('A24: at 25 days, longer than a timer of the language counts, does not fire early', async () => {
    const runId = await aRun();
    await set(runId, 'far', new Date(Date.now() + 25 * DAY));
    assert.equal(await fire(), 0);
    await bench.pool.query(
      `UPDATE queue.timer SET due_at = due_at - interval '25 days' WHERE run_id = $1`,
      [runId],
    );
    assert.equal(await fire(), 1);
    assert.equal(await fired(runId), 1);
  });

  test('A24: at NaN, at a negative wait or ten thousand years ahead is refused before it is stored', async () => {
    const runId = await aRun();
    await assert.rejects(set(runId, 'nan', new Date(NaN)), RangeError);
    await assert.rejects(set(runId, 'far', new Date(8.64e15)), RangeError);
    for (const ms of [NaN, Infinity, -1]) {
      assert.throws(() => afterMs(new Date(), ms), RangeError);
    }
    const { rowCount } = await bench.pool.query('SELECT FROM queue.timer WHERE run_id = $1', [
      runId,
    ]);
    assert.equal(rowCount, 0);
  });

  test('fires once however many schedulers race for it', async () => {
    const runId = await aRun();
    for (let n = 0; n < 20; n += 1) await set(runId, `t${n}`, new Date());
    const other = await idleEngine(bench, 'test/other');
    const counts = await Promise.all([
      fire(),
      fireDueTimers(other.engine.pool, other.engine.transport),
      fire(),
      fireDueTimers(other.engine.pool, other.engine.transport),
    ]);
    await other.close();
    assert.equal(
      counts.reduce((sum, n) => sum + n, 0),
      20,
    );
    assert.equal(await fired(runId), 20);
  });

  test('A21: a worker whose clock is ten minutes ahead fires nothing early and steals no lease', async (t) => {
    const runId = await aRun();
    await set(runId, 'soon', new Date(Date.now() + 5 * 60_000));
    await bench.pool.query(
      `UPDATE queue.run SET lease_until = statement_timestamp() + interval '1 minute',
         token = 1, message_id = 'another' WHERE id = $1`,
      [runId],
    );
    const options = { max: 100, visibilityMs: 60_000, waitMs: 0 };
    const received = await idle.engine.transport.receive('orders', options);
    const message = received.find(({ body }) => JSON.stringify(body).includes(runId));
    assert.ok(message);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * 60_000 });
    assert.equal(await fire(), 0);
    assert.equal(await take(idle.engine, runId, message, true), 'held');
    t.mock.timers.reset();
    const { rows } = await bench.pool.query('SELECT token FROM queue.run WHERE id = $1', [runId]);
    assert.deepEqual(rows, [{ token: '1' }]);
  });

  test('A23: a wait longer than a queue delays is refused there, and fires once as a timer under a short visibility', async () => {
    const sqs = await openTransport({ pool: idle.engine.pool, profile: 'sqs' });
    await assert.rejects(
      sqs.send(idle.engine.pool, 'orders', [{ body: {}, delayMs: 901_000 }]),
      LimitError,
    );
    await sqs.close();
    const soon = new Date(Date.now() + 2 * DAY).toISOString().slice(0, 10);
    const order = anOrder({}, { chargeOn: soon });
    const id = orderIdOf(order);
    const worker = await bench.startWorker({ visibilityMs: 200 });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ status }) => status === 'waiting');
    await eventually('no message waits with it', async () => {
      const { rowCount } = await bench.pool.query(
        `SELECT FROM queue.message WHERE body->>'runId' = $1`,
        [`${order.buyer.id}/${order.orderRef}`],
      );
      return rowCount === 0;
    });
    await bench.shift(id, 3 * DAY);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    assert.equal((await bench.partners.counts(`acme/${order.orderRef}`)).charge, 1);
    await worker.stop();
  });
});
