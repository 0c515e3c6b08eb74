import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Order } from '../../../core/order/schema.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { controlPartners } from '../../../partners/control.ts';
import { startPartners } from '../../../partners/server/server.ts';
import { openQueue } from '../../../queue/open.ts';
import { migrate } from '../../../queue/migrations/migrate.ts';
import { startPostgres } from '../../../stack/postgres.ts';
import type { Postgres } from '../../../stack/postgres.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { openHalfOpenWire } from '../support/half-open.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { ONCE } from '../../../lab/observe/effects.ts';
import { happened } from '../../support/counts.ts';

const policy = { ...quickPolicy, heartbeatMs: 1_000, settleMs: 300, maxLostWorkers: 10 };

describe('the database of the queue', () => {
  let postgres: Postgres;
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'q2t-h7-'));
    postgres = await startPostgres({ dataDir });
  });
  after(async () => {
    await postgres.process.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  test('is killed under load and comes back: the same workers carry every order out once', async (t) => {
    const databaseUrl = postgres.urlOf('postgres');
    const server = await startPartners();
    t.after(() => server.close());
    const partners = controlPartners(server.url);
    await migrate(databaseUrl);
    const worker = await startWorkerProcess({ databaseUrl, partnersUrl: server.url });
    t.after(() => worker.signal('SIGKILL'));
    const pipeline = await openQueue({ databaseUrl });
    t.after(() => pipeline.close());
    const orders = Array.from({ length: 12 }, () => anOrder());
    for (const order of orders) await pipeline.submit(order, policy);
    const ended = async () => {
      const listed = await pipeline.list({ status: 'ended' }).catch(() => undefined);
      return listed?.kind === 'runs' ? listed.runs.length : 0;
    };
    await until('some orders have ended', async () => (await ended()) >= 2);
    await postgres.process.kill();
    await postgres.process.start();
    await until('all orders have ended', async () => (await ended()) === orders.length, 60_000);
    for (const order of orders) {
      const counts = await partners.counts(`${order.buyer.id}/${order.orderRef}`);
      assert.deepEqual(happened(counts), ONCE);
    }
    worker.signal('SIGTERM');
    assert.equal(await worker.exited, 0);
  });
});

describe('the connections of the queue', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench({ workers: 0 });
  });
  after(() => bench.close());

  test('are cut again and again: every order is carried out once', async () => {
    const worker = await bench.startWorker();
    const orders = Array.from({ length: 8 }, () => anOrder());
    for (const order of orders) await bench.pipeline.submit(order, policy);
    const isDone = async (order: Order) =>
      (await bench.position(orderIdOf(order))).status === 'ended';
    const admin = new pg.Client({ connectionString: bench.databaseUrl });
    await admin.connect();
    let cuts = 0;
    await until(
      'all orders have ended',
      async () => {
        if (cuts < 6) {
          const { rowCount } = await admin.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'q2t-queue-worker'`,
          );
          cuts += rowCount ? 1 : 0;
        }
        return (await Promise.all(orders.map(isDone))).every(Boolean);
      },
      60_000,
    );
    await admin.end();
    assert.ok(cuts > 0, 'nothing was cut');
    for (const order of orders) {
      const counts = await bench.partners.counts(`${order.buyer.id}/${order.orderRef}`);
      assert.deepEqual(happened(counts), ONCE);
    }
    await worker.stop();
  });

  test('go half-open in the middle of a step: another worker takes over, and the first one’s writes are refused', async (t) => {
    const wire = await openHalfOpenWire(bench.databaseUrl);
    t.after(() => wire.close());
    const order = anOrder();
    const reference = `${order.buyer.id}/${order.orderRef}`;
    const first = await bench.startWorker({ databaseUrl: wire.url, statementTimeoutMs: 500 });
    await bench.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      reference,
      times: 1,
      effect: { kind: 'hang-after' },
    });
    await bench.pipeline.submit(order, { ...policy, partnerTimeoutMs: 60_000 });
    await bench.partners.waitUntilHeld({ reference }, 30_000);
    wire.freeze();
    const second = await bench.startWorker();
    assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
    const before = await bench.position(orderIdOf(order));
    await bench.partners.release();
    wire.thaw();
    await first.stop();
    assert.deepEqual(await bench.position(orderIdOf(order)), before);
    assert.deepEqual(happened(await bench.partners.counts(reference)), ONCE);
    await second.stop();
  });
});
