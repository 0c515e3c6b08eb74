import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { lead, stopLeading } from '../../../queue/worker/lead.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

describe('keeping house', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench({ workers: 0 });
  });
  after(() => bench.close());
  afterEach(() => bench.pool.query('DELETE FROM queue.housekeeper'));

  const ada = { holder: '00000000-0000-4000-8000-00000000000a', worker: 'ada' };
  const bob = { holder: '00000000-0000-4000-8000-00000000000b', worker: 'bob' };
  async function leader(): Promise<string | undefined> {
    const { rows } = await bench.pool.query<{ worker: string }>(
      'SELECT worker FROM queue.housekeeper WHERE lease_until > statement_timestamp()',
    );
    return rows[0]?.worker;
  }

  test('is for one at a time, who keeps it as long as it asks; the next one gets it when the lease is over', async () => {
    assert.equal(await lead(bench.pool, ada, 60_000), true);
    assert.equal(await lead(bench.pool, bob, 60_000), false);
    assert.equal(await lead(bench.pool, ada, 60_000), true);
    await bench.pool.query(
      `UPDATE queue.housekeeper SET lease_until = statement_timestamp() - interval '1 s'`,
    );
    assert.equal(await lead(bench.pool, bob, 60_000), true);
    assert.equal(await lead(bench.pool, ada, 60_000), false);
  });

  test('is given back by its holder, and by nobody else', async () => {
    assert.equal(await lead(bench.pool, ada, 60_000), true);
    await stopLeading(bench.pool, bob.holder);
    assert.equal(await leader(), 'ada');
    await stopLeading(bench.pool, ada.holder);
    assert.equal(await lead(bench.pool, bob, 60_000), true);
  });

  test('goes to one of many who ask at the same moment', async () => {
    const asking = Array.from({ length: 8 }, (_, n) => ({
      holder: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      worker: `w${n}`,
    }));
    const answers = await Promise.all(asking.map((who) => lead(bench.pool, who, 60_000)));
    assert.equal(answers.filter(Boolean).length, 1);
  });

  test('is done by one of three workers; when that one is killed another takes it, and a drain leaves it at once', async (t) => {
    const env = { Q2T_HOUSEKEEPING_MS: '300' };
    const workers = await Promise.all([1, 2, 3].map(() => startWorkerProcess(bench, env)));
    t.after(async () => {
      for (const worker of workers) worker.signal('SIGKILL');
      await Promise.all(workers.map(({ exited }) => exited));
    });
    const ofLeader = (name: string | undefined) =>
      workers.find(({ pid }) => name?.endsWith(`/${pid}`));
    await until('somebody leads', async () => ofLeader(await leader()) !== undefined);
    const first = ofLeader(await leader());
    assert.ok(first);
    await until('its canary was seen', async () => {
      const { rowCount } = await bench.pool.query(
        'SELECT FROM queue.canary WHERE seen_at IS NOT NULL',
      );
      return rowCount === 1;
    });
    first.signal('SIGKILL');
    await until('another leads', async () => {
      const next = ofLeader(await leader());
      return next !== undefined && next !== first;
    });
    const second = ofLeader(await leader());
    assert.ok(second);
    second.signal('SIGTERM');
    assert.equal(await second.exited, 0);
    const third = workers.find((worker) => worker !== first && worker !== second);
    await until('the last one leads', async () => ofLeader(await leader()) === third);
  });

  test('prunes what is old: first what explains a run, then the run with its ledger', async () => {
    const order = anOrder();
    const runId = `${order.buyer.id}/${order.orderRef}`;
    const day = 24 * 3_600_000;
    const worker = await bench.startWorker({
      housekeepingEveryMs: 50,
      retention: { detailsMs: 10 * day, ledgerMs: 20 * day },
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.ended(orderIdOf(order));
    const daysPass = (days: number) =>
      bench.pool.query(
        `UPDATE queue.run SET ended_at = ended_at - make_interval(days => $2) WHERE id = $1`,
        [runId, days],
      );
    const rows = async (table: string) =>
      (await bench.pool.query(`SELECT FROM queue.${table} WHERE run_id = $1`, [runId])).rowCount;
    await daysPass(11);
    await until('its history is gone', async () => (await rows('run_history')) === 0);
    assert.ok(((await rows('ledger')) ?? 0) > 0);
    await daysPass(10);
    await until('its ledger is gone', async () => (await rows('ledger')) === 0);
    assert.equal((await bench.pipeline.where(orderIdOf(order))).kind, 'not-found');
    assert.equal(await rows('invoice'), 1);
    await worker.stop();
    assert.equal(await leader(), undefined);
  });

  test('every table whose rows change with every order has a vacuum threshold of its own', async () => {
    const worker = await bench.startWorker();
    const orders = Array.from({ length: 10 }, () => anOrder({ lines: 12, unitPrice: '2000.00' }));
    for (const order of orders) await bench.pipeline.submit(order, quickPolicy);
    const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' } as const;
    for (const order of orders) {
      const id = orderIdOf(order);
      await bench.until(id, ({ status }) => status === 'waiting');
      await bench.pipeline.decide(id, answer);
      await bench.ended(id);
    }
    await worker.stop();
    const hot = async () => {
      const { rows } = await bench.pool.query<{ table: string; settings: string }>(
        `SELECT s.relname AS table, coalesce(array_to_string(c.reloptions, ' '), '') AS settings
         FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
         WHERE s.schemaname = 'queue' AND s.n_tup_ins >= $1 AND s.n_tup_upd + s.n_tup_del >= $1
         ORDER BY 1`,
        [orders.length],
      );
      return rows;
    };
    // Statistics lag a little; these are certain to be there. A table of one row is none of them.
    await until('the statistics are in', async () => {
      const tables = (await hot()).map(({ table }) => table);
      return ['ledger', 'message', 'run', 'run_join'].every((table) => tables.includes(table));
    });
    for (const { table, settings } of await hot()) {
      assert.match(settings, /autovacuum_vacuum_scale_factor=/, table);
    }
  });
});
