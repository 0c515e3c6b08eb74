import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import { migrate } from '../../../queue/migrations/migrate.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../queue/migrations', import.meta.url));

/** On a busy machine a partner may be slow, and a failed attempt must be the migration's fault. */
const policy = { ...quickPolicy, partnerTimeoutMs: 60_000, heartbeatMs: 20_000 };

/** What the next version would bring: an expansion that old workers need not know of, on the hottest tables. */
const NEXT_VERSION = {
  '9001-expand.sql': `
    ALTER TABLE queue.run ADD COLUMN priority integer NOT NULL DEFAULT 0;
    ALTER TABLE queue.ledger ADD COLUMN amount_minor bigint;
    ALTER TABLE queue.message ADD COLUMN tenant text;
    ALTER TABLE queue.run ADD CONSTRAINT priority_is_small CHECK (priority BETWEEN 0 AND 9) NOT VALID;`,
  '9002-validate.sql': 'ALTER TABLE queue.run VALIDATE CONSTRAINT priority_is_small;',
  '9003-indexes.sql': `-- concurrently
DROP INDEX CONCURRENTLY IF EXISTS queue.run_by_priority;
CREATE INDEX CONCURRENTLY run_by_priority ON queue.run (priority) WHERE ended_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS queue.history_by_time;
CREATE INDEX CONCURRENTLY history_by_time ON queue.run_history (at);`,
};

test('a migration is applied while runs are under way, and the old workers go on: every order is carried out once', async (t) => {
  const bench = await openBench({ workers: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'q2t-deploy-'));
  const workers = await Promise.all([1, 2].map(() => startWorkerProcess(bench)));
  t.after(async () => {
    for (const worker of workers) worker.signal('SIGKILL');
    await Promise.all(workers.map(({ exited }) => exited));
    await bench.close();
    await rm(folder, { recursive: true, force: true });
  });
  await cp(MIGRATIONS, folder, { recursive: true, filter: (path) => !path.endsWith('.ts') });
  for (const [name, sql] of Object.entries(NEXT_VERSION)) await writeFile(join(folder, name), sql);

  const orders: Order[] = [];
  const submit = async () => {
    const order = anOrder({ lines: orders.length % 5 === 0 ? 12 : 1 });
    orders.push(order);
    await bench.pipeline.submit(order, policy);
  };
  const underWay = async () => {
    const { rows } = await bench.pool.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM queue.run WHERE ended_at IS NULL',
    );
    return rows[0]?.n ?? 0;
  };
  for (let n = 0; n < 6; n += 1) await submit();
  await until('an order has ended', async () => (await underWay()) < 6);
  let migrated = false;
  const migrating = migrate(bench.databaseUrl, { folder }).finally(() => {
    migrated = true;
  });
  while (!migrated) {
    if ((await underWay()) < 6) await submit();
    else await wait(10);
  }
  assert.deepEqual(await migrating, Object.keys(NEXT_VERSION));
  assert.ok((await underWay()) > 0, 'every run had ended before the migration did');

  // One of the old version that starts now finds a database that is ahead of it.
  workers.push(await startWorkerProcess(bench));
  for (let n = 0; n < 3; n += 1) await submit();
  for (const order of orders) {
    assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
    const counts = await bench.partners.counts(`${order.buyer.id}/${order.orderRef}`);
    const { charge, enquiry, reservation, order: placed, mail } = counts;
    assert.deepEqual([charge, enquiry, reservation, placed, mail], [1, 1, 1, 1, 1]);
  }
  const { rows } = await bench.pool.query('SELECT DISTINCT priority FROM queue.run');
  assert.deepEqual(rows, [{ priority: 0 }]);
  const { rows: failures } = await bench.pool.query('SELECT step, message FROM queue.run_attempt');
  assert.deepEqual(failures, []);
  for (const { log } of workers) {
    assert.deepEqual(
      log.filter(({ level }) => Number(level) >= 50),
      [],
    );
  }
  for (const worker of workers) {
    worker.signal('SIGTERM');
    assert.equal(await worker.exited, 0);
  }
});
