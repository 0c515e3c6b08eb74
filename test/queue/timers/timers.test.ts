import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { withTransaction } from '../../../queue/database.ts';
import { take } from '../../../queue/runs/take.ts';
import { fireDueTimers } from '../../../queue/timers/fire-due.ts';
import { after as afterMs, setTimer } from '../../../queue/timers/set-timer.ts';
import { LimitError } from '../../../queue/transport/limits.ts';
import { openTransport } from '../../../queue/transport/open.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { idleEngine, useIdle } from '../support/engine.ts';
import { until } from '../../support/until.ts';

const DAY = 86_400_000;

describe('a timer on the queue', () => {
  const on = useIdle();

  async function aRun(): Promise<string> {
    const order = anOrder();
    await on.bench.pipeline.submit(order, quickPolicy);
    return `${order.buyer.id}/${order.orderRef}`;
  }
  const set = (runId: string, name: string, at: Date) =>
    withTransaction(on.idle.engine.pool, (tx) => setTimer(tx, runId, name, at));
  const fire = () => fireDueTimers(on.idle.engine.pool, on.idle.engine.transport);
  async function fired(runId: string): Promise<number> {
    const { rows } = await on.bench.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM queue.run_inbox WHERE run_id = $1 AND entry->>'kind' = 'timer'`,
      [runId],
    );
    return rows[0]?.n ?? 0;
  }

  test('A24: at 25 days, longer than a timer of the language counts, does not fire early', async () => {
    const runId = await aRun();
    await set(runId, 'far', new Date(Date.now() + 25 * DAY));
    assert.equal(await fire(), 0);
    await on.bench.pool.query(
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
    const { rowCount } = await on.bench.pool.query('SELECT FROM queue.timer WHERE run_id = $1', [
      runId,
    ]);
    assert.equal(rowCount, 0);
  });

  test('fires once however many schedulers race for it', async () => {
    const runId = await aRun();
    for (let n = 0; n < 20; n += 1) await set(runId, `t${n}`, new Date());
    const other = await idleEngine(on.bench, 'test/other');
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

  test('fires although somebody has the row of another run locked, whose timer fires later', async () => {
    const [locked, free] = [await aRun(), await aRun()];
    for (const runId of [locked, free]) await set(runId, 'due', new Date());
    const frozen = await on.idle.client();
    await frozen.query('BEGIN');
    await frozen.query('UPDATE queue.run SET lease_until = NULL WHERE id = $1', [locked]);
    assert.equal(await fire(), 1);
    assert.deepEqual([await fired(locked), await fired(free)], [0, 1]);
    await frozen.query('ROLLBACK');
    assert.equal(await fire(), 1);
    assert.equal(await fired(locked), 1);
  });

  test('A21: a worker whose clock is ten minutes ahead fires nothing early and steals no lease', async (t) => {
    const runId = await aRun();
    await set(runId, 'soon', new Date(Date.now() + 5 * 60_000));
    await on.bench.pool.query(
      `UPDATE queue.run SET lease_until = statement_timestamp() + interval '1 minute',
         token = 1, message_id = 'another' WHERE id = $1`,
      [runId],
    );
    const options = { max: 100, visibilityMs: 60_000, waitMs: 0 };
    const received = await on.idle.engine.transport.receive('orders', options);
    const message = received.find(({ body }) => JSON.stringify(body).includes(runId));
    assert.ok(message);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * 60_000 });
    assert.equal(await fire(), 0);
    assert.equal(await take(on.idle.engine, runId, message, true), 'held');
    t.mock.timers.reset();
    const { rows } = await on.bench.pool.query('SELECT token FROM queue.run WHERE id = $1', [
      runId,
    ]);
    assert.deepEqual(rows, [{ token: '1' }]);
  });

  test('a run that is locked for a moment still has its timers fired in the order of their dates', async () => {
    const runId = await aRun();
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await set(runId, 'escalate', ago(2));
    await set(runId, 'expire', ago(1));
    const holder = await on.idle.client();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
    const waits = async () => {
      const { rowCount } = await on.bench.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rowCount === 1;
    };
    const firing = fire();
    await until('the first timer waits for the run', waits);
    await until('and has given up', async () => !(await waits()));
    await holder.query('ROLLBACK');
    await firing;
    const { rows } = await on.bench.pool.query<{ name: string }>(
      'SELECT name FROM queue.timer WHERE run_id = $1 AND fired_at IS NOT NULL',
      [runId],
    );
    assert.ok(
      !rows.some(({ name }) => name === 'expire') || rows.length === 2,
      JSON.stringify(rows),
    );
    assert.equal((await fire()) + rows.length, 2);
  });

  test('A23: a wait longer than a queue delays is refused there, and fires once as a timer under a short visibility', async () => {
    const sqs = await openTransport({ pool: on.idle.engine.pool, profile: 'sqs' });
    await assert.rejects(
      sqs.send(on.idle.engine.pool, 'orders', [{ body: {}, delayMs: 901_000 }]),
      LimitError,
    );
    await sqs.close();
    const soon = new Date(Date.now() + 2 * DAY).toISOString().slice(0, 10);
    const order = anOrder({}, { chargeOn: soon });
    const id = orderIdOf(order);
    const worker = await on.bench.startWorker({ visibilityMs: 200 });
    await on.bench.pipeline.submit(order, quickPolicy);
    await on.bench.until(id, ({ status }) => status === 'waiting');
    await until('no message waits with it', async () => {
      const { rowCount } = await on.bench.pool.query(
        `SELECT FROM queue.message WHERE body->>'runId' = $1`,
        [`${order.buyer.id}/${order.orderRef}`],
      );
      return rowCount === 0;
    });
    await on.bench.shift(id, 3 * DAY);
    assert.equal((await on.bench.ended(id)).outcome, 'completed');
    assert.equal((await on.bench.partners.counts(`acme/${order.orderRef}`)).charge, 1);
    await worker.stop();
  });
});
