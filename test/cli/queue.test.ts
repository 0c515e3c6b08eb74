import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { orderIdOf } from '../../core/order/run-input.ts';
import { orderLimits } from '../../core/policy.ts';
import { openBench } from '../queue/support/bench.ts';
import type { QueueBench } from '../queue/support/bench.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { anOrder } from '../support/orders.ts';
import { q2t, q2tInside } from './q2t.ts';
import { keyOf, large } from './sides.ts';

// What is so on the queue only: an answer needs no worker, and the first command makes the tables.
describe('the command line on the queue', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench({ workers: 0 });
  });
  after(() => bench.close());

  const run = (args: string[], env: Record<string, string> = {}, input = '') => {
    return q2tInside([...args, '--on', 'queue'], {
      env: { DATABASE_URL: bench.databaseUrl, ...env },
      input,
    });
  };

  test('a decision and a cancel are taken while no worker lives, and honoured by the next one', async () => {
    const [approved, cancelled] = [large(), large()];
    const worker = await bench.startWorker();
    for (const order of [approved, cancelled]) {
      await bench.pipeline.submit(order);
      await bench.until(orderIdOf(order), ({ waitingFor }) => waitingFor?.kind === 'person');
    }
    await worker.stop();
    const decided = await run(['decide', approved.orderRef, 'approve', '--by', 'Ann']);
    assert.equal(decided.exitCode, 0, decided.stderr);
    const who = ['--by', 'Ann', '--reason', 'ordered twice'];
    const taken = await run(['cancel', keyOf(cancelled), ...who]);
    assert.equal(taken.exitCode, 0, taken.stderr);
    assert.match(taken.stderr, /q2t where acme\/\S+ --history --on queue$/m);
    const next = await bench.startWorker();
    assert.equal((await bench.ended(orderIdOf(approved))).outcome, 'completed');
    assert.equal((await bench.ended(orderIdOf(cancelled))).outcome, 'cancelled');
    await next.stop();
  });

  test('a reset ends with 2 and says what takes its place', async () => {
    const order = anOrder();
    await bench.pipeline.submit(order);
    const reset = ['reset', keyOf(order), '--by', 'Ann', '--why', 'bad deploy'];
    const { exitCode, stderr } = await run(reset);
    assert.equal(exitCode, 2);
    assert.match(stderr, /queue cannot: .*goes on when a worker has its version/);
  });

  test('the first order on an empty database makes the tables it needs', async () => {
    const database = await emptyDatabase();
    try {
      const env = { DATABASE_URL: database.url };
      const started = await run(['submit', '-'], env, JSON.stringify(anOrder()));
      assert.equal(started.exitCode, 0, started.stderr);
      assert.match(started.stdout, /started$/);
    } finally {
      await database.drop();
    }
  });

  test('a database that can be read only ends with 1 and says what is needed, without the password', async () => {
    const database = await emptyDatabase();
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    try {
      const name = pg.escapeIdentifier(database.name);
      await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      const ended = await run(['list'], { DATABASE_URL: database.url });
      assert.equal(ended.exitCode, 1);
      assert.match(ended.stderr, /can't be used \(cannot execute CREATE SCHEMA in a read-only/);
      assert.match(ended.stderr, /must be allowed to create the schema/);
      const { password } = new URL(database.url);
      assert.ok(password !== '' && !ended.stderr.includes(password));
    } finally {
      await admin.end();
      await database.drop();
    }
  });

  test('only the database is printed as the target, and a broken setting of another server does not matter', async () => {
    const broken = { TEMPORAL_PROFILE: 'nobody', PARTNERS_URL: 'not a URL' };
    const { exitCode, stderr } = await run(['list'], broken);
    assert.equal(exitCode, 0, stderr);
    const { host } = new URL(bench.databaseUrl);
    assert.ok(stderr.includes(host));
    assert.doesNotMatch(stderr, /Temporal 127|namespace|task queue/);
  });

  test('a reference that no database can hold is not found', async () => {
    const { exitCode, stderr } = await run(['where', 'acme/%00']);
    assert.equal(exitCode, 3, stderr);
  });

  for (const on of ['queue', 'chain']) {
    test(`${on} takes an order of as many lines as an order may have, and refuses one more`, async () => {
      const order = anOrder({ lines: orderLimits.maxLines });
      const env = { DATABASE_URL: bench.databaseUrl };
      const submit = (input: object) => {
        return q2t(['submit', '-', '--on', on], { env, input: JSON.stringify(input) });
      };
      const taken = await submit(order);
      assert.equal(taken.exitCode, 0, taken.stderr);
      assert.equal(taken.stdout, `${keyOf(order)}  started`);
      const [line] = order.lines;
      const refused = await submit({
        ...order,
        lines: [...order.lines, { ...line, lineId: 'more' }],
      });
      assert.equal(refused.exitCode, 2);
      assert.match(refused.stderr, /2500[^]*Nothing was started|Nothing was started[^]*2500/);
    });
  }
});
