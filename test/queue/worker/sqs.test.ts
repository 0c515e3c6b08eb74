import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Pipeline } from '../../../core/contract.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import { openQueue } from '../../../queue/open.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench, storyOf } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { longestDelayMs, SQS_ENV } from './sqs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const policy = { ...quickPolicy, fanOut: 12 };

describe('runs within the limits of SQS', () => {
  let bench: QueueBench;
  let worker: WorkerProcess;
  let pipeline: Pipeline;
  before(async () => {
    bench = await openBench({ workers: 0 });
    pipeline = await openQueue({ databaseUrl: bench.databaseUrl, profile: 'sqs' });
    worker = await startWorkerProcess(bench, SQS_ENV);
  });
  after(async () => {
    worker.signal('SIGTERM');
    assert.equal(await worker.exited, 0);
    await pipeline.close();
    await bench.close();
  });
  afterEach(() => bench.partners.clearFault());

  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const longestDelay = () => longestDelayMs(bench.pool);
  /** The partner is away for an order; it asks for an hour's patience unless told otherwise. */
  const outage = (
    order: Order,
    partner: 'warehouse' | 'payments',
    operation: 'reserve' | 'charge',
    asks: { retryAfter?: number } = { retryAfter: 3_600 },
  ) => {
    const effect = { kind: 'status', status: 503, ...asks } as const;
    return bench.partners.setFault({ partner, operation, reference: refOf(order), effect });
  };

  test('carry an order out that is approved after two days and charged weeks later; no message waits with it', async () => {
    const chargeOn = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10);
    const order = anOrder({ lines: 12, unitPrice: '2000.00' }, { chargeOn });
    const id = orderIdOf(order);
    await pipeline.submit(order, policy);
    await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'person');
    await bench.shift(id, 2 * DAY_MS);
    await bench.until(id, ({ history }) => history.some(({ type }) => type === 'escalated'));
    const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' } as const;
    assert.deepEqual(await pipeline.decide(id, answer), { kind: 'accepted' });
    await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'date');
    await until('no message waits with it', async () => {
      const { rowCount } = await bench.pool.query('SELECT FROM queue.message');
      return rowCount === 0;
    });
    await bench.shift(id, 31 * DAY_MS);
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'completed');
    assert.equal(storyOf(position).filter((line) => line === 'reminded').length, 1);
    const counts = await bench.partners.counts(refOf(order));
    const { charge, reservation, order: placed, mail } = counts;
    assert.deepEqual([charge, reservation, placed, mail], [1, 1, 1, 1]);
  });

  test('take an order that is larger than a message may be: only its name travels', async () => {
    const order = anOrder({ lines: 2_500, sku: 'a-rather-long-article-number-' });
    assert.equal((await pipeline.submit(order, policy)).kind, 'started');
    await bench.until(orderIdOf(order), ({ progress }) => progress !== undefined);
    await pipeline.cancel(orderIdOf(order), 'ada', 'large enough to see');
    assert.equal((await bench.ended(orderIdOf(order))).outcome, 'cancelled');
  });

  test('wait an hour for a partner that asks for it, by a timer and not by a message', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await outage(order, 'warehouse', 'reserve');
    await pipeline.submit(order, policy);
    const waiting = await bench.until(id, ({ nextAttemptAt }) => nextAttemptAt !== undefined);
    assert.ok(Date.parse(waiting.nextAttemptAt ?? '') - Date.now() > 0.9 * HOUR_MS);
    assert.ok((await longestDelay()) <= 900_000);
    await bench.partners.clearFault();
    await bench.shift(id, HOUR_MS);
    assert.equal((await bench.ended(id)).outcome, 'completed');
  });

  test('have a line wait an hour too: its message comes back every 15 minutes and asks nobody', async () => {
    const order = anOrder({ lines: 12 });
    const id = orderIdOf(order);
    await bench.partners.setFault({
      partner: 'supplier',
      operation: 'quote',
      times: 1,
      effect: { kind: 'status', status: 503, retryAfter: 3_600 },
    });
    await pipeline.submit(order, policy);
    await until('eleven lines are priced', async () =>
      /^11 of 12/.test((await bench.position(id)).progress ?? ''),
    );
    const child = async () => {
      const { rows } = await bench.pool.query<{ early: number; attempts: number; token: string }>(
        `SELECT (extract(epoch FROM not_before - statement_timestamp()) * 1000)::float8 AS early,
           attempts, token FROM queue.join_child WHERE starts_with(join_id, $1) AND state = 'sent'`,
        [refOf(order)],
      );
      const [row] = rows;
      assert.ok(row);
      return row;
    };
    const before = await child();
    assert.ok(before.early > 0.9 * HOUR_MS, `${before.early} ms`);
    const delayed = await longestDelay();
    assert.ok(delayed > 800_000 && delayed <= 900_000, `${delayed} ms`);
    await bench.pool.query('UPDATE queue.message SET visible_at = statement_timestamp()');
    await until('it was looked at and put off again', async () => {
      const ms = await longestDelay();
      return ms > 800_000 && ms <= 900_000;
    });
    const after = await child();
    assert.deepEqual([after.attempts, after.token], [before.attempts, before.token]);
    await bench.shift(id, HOUR_MS);
    assert.equal((await bench.ended(id)).outcome, 'completed');
  });

  test('are found by the sweep when their only message outlived the retention of the queue', async (t) => {
    const order = anOrder();
    const id = orderIdOf(order);
    await outage(order, 'payments', 'charge', {});
    // So long a wait that the message doesn't come back by itself.
    await pipeline.submit(order, { ...policy, retryInitialMs: 850_000, retryMaxMs: 850_000 });
    await bench.until(id, ({ step, status }) => step === 'charge' && status === 'retrying');
    await bench.pool.query(
      `UPDATE queue.message SET sent_at = sent_at - interval '5 days',
         visible_at = greatest(visible_at, statement_timestamp() + interval '5 minutes')`,
    );
    await bench.pool.query(
      `UPDATE queue.run SET woken_at = woken_at - interval '1 hour',
         next_attempt_at = next_attempt_at - interval '2 hours' WHERE id = $1`,
      [refOf(order)],
    );
    await bench.partners.clearFault();
    const house = await bench.startWorker({ profile: 'sqs', housekeepingEveryMs: 50 });
    t.after(() => house.stop());
    assert.equal((await bench.ended(id)).outcome, 'completed');
    const { metrics } = house.engine;
    const counted = async (metric: 'swept' | 'pruned', what: string) =>
      (await metrics[metric].get()).values.find(({ labels }) => labels.what === what)?.value;
    assert.deepEqual([await counted('swept', 'runs'), await counted('pruned', 'messages')], [1, 1]);
  });
});
