import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { openPool } from '../../../queue/database.ts';
import { migrate } from '../../../queue/migrations/migrate.ts';
import { openQueue } from '../../../queue/open.ts';
import { emptyDatabase } from '../../support/postgres.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { until } from '../../support/until.ts';
import { openBench } from '../support/bench.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { findPgBouncer, HOW_TO_GET_IT, startPgBouncer } from '../transport/pgbouncer.ts';

const found = await findPgBouncer();
// Seen in node's counts: a machine without PgBouncer, whose user may not install it, leaves these out.
const skip = found === undefined && HOW_TO_GET_IT;
const program = found ?? '';

test(
  'A14: workers behind PgBouncer in transaction mode carry whole orders out, poll, say so, and keep house',
  { skip },
  async (t) => {
    const bench = await openBench({ workers: 0 });
    const pgBouncer = await startPgBouncer(program, bench.databaseUrl);
    const pooled = { databaseUrl: pgBouncer.url, partnersUrl: bench.partnersUrl };
    const env = { Q2T_MIGRATIONS_URL: bench.databaseUrl, Q2T_HOUSEKEEPING_MS: '300' };
    const workers = await Promise.all([1, 2].map(() => startWorkerProcess(pooled, env)));
    const pipeline = await openQueue({ databaseUrl: pgBouncer.url });
    t.after(async () => {
      for (const worker of workers) worker.signal('SIGKILL');
      await Promise.all(workers.map(({ exited }) => exited));
      await pipeline.close();
      await pgBouncer.stop();
      await bench.close();
    });
    const orders = [
      anOrder({ lines: 12, unitPrice: '2000.00' }),
      ...[1, 2, 3].map(() => anOrder()),
    ];
    for (const order of orders) await pipeline.submit(order, quickPolicy);
    const [approved] = orders;
    assert.ok(approved);
    const id = orderIdOf(approved);
    await bench.until(id, ({ status }) => status === 'waiting');
    const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' } as const;
    assert.deepEqual(await pipeline.decide(id, answer), { kind: 'accepted' });
    for (const order of orders) {
      assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
      const counts = await bench.partners.counts(`${order.buyer.id}/${order.orderRef}`);
      const { charge, enquiry, reservation, order: placed, mail } = counts;
      assert.deepEqual([charge, enquiry, reservation, placed, mail], [1, 1, 1, 1, 1]);
    }
    await until('a worker that polls', async () => {
      const health = await fetch(`http://127.0.0.1:${workers[0]?.port}/health`);
      return (await health.text()).includes('"hints":"polling"');
    });
    const { rowCount: leaders } = await bench.pool.query('SELECT FROM queue.housekeeper');
    assert.equal(leaders, 1);
    for (const worker of workers) {
      const said = await until('it says so', () =>
        worker.log.find(({ msg }) => msg === 'hints do not arrive, receivers poll'),
      );
      assert.match(String(said['reason']), /pooler in transaction mode/);
      assert.deepEqual(
        worker.log.filter(({ level }) => Number(level) >= 50),
        [],
      );
      worker.signal('SIGTERM');
      assert.equal(await worker.exited, 0);
    }
  },
);

test(
  'a statement that has a name on a direct connection has none behind PgBouncer',
  { skip },
  async (t) => {
    const bench = await openBench({ workers: 0 });
    const pgBouncer = await startPgBouncer(program, bench.databaseUrl);
    t.after(async () => {
      await pgBouncer.stop();
      await bench.close();
    });
    for (const [url, prepared] of [
      [bench.databaseUrl, 1],
      [pgBouncer.url, 0],
    ] as const) {
      const pool = openPool({ url, applicationName: 'test', maxConnections: 1 });
      await pool.query({ name: 'twice', text: 'SELECT $1::int AS n', values: [1] });
      const { rows } = await pool.query({
        name: 'twice',
        text: 'SELECT $1::int AS n',
        values: [2],
      });
      assert.deepEqual(rows, [{ n: 2 }]);
      const { rowCount } = await pool.query(
        `SELECT FROM pg_prepared_statements WHERE name = 'twice'`,
      );
      assert.equal(rowCount, prepared, url);
      await pool.end();
    }
  },
);

test(
  'a migration through PgBouncer only looks: nothing to do is fine, something to do names the way',
  { skip },
  async (t) => {
    const database = await emptyDatabase();
    const pgBouncer = await startPgBouncer(program, database.url);
    t.after(async () => {
      await pgBouncer.stop();
      await database.drop();
    });
    await assert.rejects(
      migrate(pgBouncer.url),
      /0001-transport\.sql is not applied.*pooler: migrate over a direct one first/,
    );
    await migrate(database.url);
    assert.deepEqual(await migrate(pgBouncer.url), []);
  },
);
