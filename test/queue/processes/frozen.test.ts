import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { businessKey } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { runAmong } from '../../../lab/wire/postgres/naming.ts';
import { startPostgresProxy } from '../../../lab/wire/postgres/proxy.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const policy = { ...quickPolicy, heartbeatMs: 1_000, settleMs: 300 };
/** More than a message may have: each take that gave up would be one too many if it counted. */
const TAKES = 12;

describe('somebody who is frozen with a run’s row locked', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench({ workers: 0 });
  });
  after(() => bench.close());

  async function assertOnce(runId: string): Promise<void> {
    const { charge, enquiry, reservation, order, mail } = await bench.partners.counts(runId);
    assert.deepEqual([charge, enquiry, reservation, order, mail], [1, 1, 1, 1, 1]);
    const { rows } = await bench.pool.query('SELECT FROM queue.dead_message');
    assert.equal(rows.length, 0, 'a wake-up was buried');
  }

  test('uses up nothing of its wake-up: the order is carried out when the lock is gone', async () => {
    const order = anOrder();
    const runId = businessKey(orderIdOf(order));
    await bench.pipeline.submit(order, policy);
    const frozen = new pg.Client({ connectionString: bench.databaseUrl });
    await frozen.connect();
    await frozen.query('BEGIN');
    await frozen.query('UPDATE queue.run SET lease_until = lease_until WHERE id = $1', [runId]);
    const worker = await bench.startWorker({ visibilityMs: 500 });
    const gaveUp = async () => {
      const { values } = await worker.engine.metrics.messages.get();
      return values.find(({ labels }) => labels.result === 'locked')?.value ?? 0;
    };
    await until('many takes gave up', async () => (await gaveUp()) >= TAKES);
    await frozen.query('ROLLBACK');
    await frozen.end();
    assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
    await worker.stop();
    await assertOnce(runId);
  });

  test('as a real worker, stopped before its commit, loses the run to another one and costs it one lost worker', async (t) => {
    const order = anOrder();
    const id = orderIdOf(order);
    const runId = businessKey(id);
    const { hostname: host, port } = new URL(bench.databaseUrl);
    const proxy = await startPostgresProxy({
      upstream: { host, port: Number(port) },
      runOf: runAmong(new Set([runId])),
    });
    t.after(() => proxy.close());
    const { partnersUrl } = bench;
    const frozen = await startWorkerProcess({
      databaseUrl: proxy.url(bench.databaseUrl),
      partnersUrl,
    });
    t.after(() => frozen.signal('SIGKILL'));
    const armed = proxy.arm({
      at: ({ run, what }) => run === runId && what.includes('ledger-outcome'),
      side: 'before',
      action: 'stop-the-world',
      // Its transaction is open at the server, with the run's row locked, until the server ends it.
      async meanwhile() {
        frozen.signal('SIGSTOP');
        const second = await startWorkerProcess(bench);
        t.after(() => second.signal('SIGKILL'));
        assert.equal((await bench.ended(id)).outcome, 'completed');
        frozen.signal('SIGCONT');
      },
    });
    await bench.pipeline.submit(order, policy);
    await armed.done;
    await assertOnce(runId);
    const { rows } = await bench.pool.query(
      'SELECT failure_class FROM queue.run_attempt WHERE run_id = $1',
      [runId],
    );
    assert.deepEqual(rows, [{ failure_class: 'lost-worker' }]);
    const position = await bench.position(id);
    frozen.signal('SIGTERM');
    assert.equal(await frozen.exited, 0);
    assert.deepEqual(await bench.position(id), position);
  });
});
