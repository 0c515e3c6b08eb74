import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { openPool } from '../../../queue/database.ts';
import { migrate } from '../../../queue/migrations/migrate.ts';
import { openTransport } from '../../../queue/transport/open.ts';
import { startPostgres } from '../../../stack/postgres.ts';
import { until } from '../../support/until.ts';
import { openFresh, receiveNow, receiveOne } from './support.ts';

const CONSUMER = fileURLToPath(new URL('./consumer.ts', import.meta.url));

/** Starts a consumer process and collects what it says. */
function startConsumer(
  t: TestContext,
  url: string,
  {
    visibilityMs,
    hold = false,
    preload,
  }: { visibilityMs: number; hold?: boolean; preload?: string },
) {
  const lines: string[] = [];
  const importing = preload === undefined ? [] : ['--import', `data:text/javascript,${preload}`];
  const child = execa(process.execPath, [...importing, CONSUMER], {
    reject: false,
    env: { DATABASE_URL: url, VISIBILITY_MS: String(visibilityMs), HOLD: hold ? '1' : '0' },
  });
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  t.after(async () => {
    child.kill('SIGKILL');
    await child;
  });
  const said = (word: string) => lines.filter((line) => line.startsWith(word));
  return { child, said, until: (word: string) => until(word, () => said(word).length > 0) };
}

test('A6: a consumer that is killed by every message it gets has counted each of them', async (t) => {
  const { pool, url, transport } = await openFresh(t, { maxReceives: 2 });
  await transport.send(pool, 'orders', [{ body: 'kills' }]);
  for (let life = 1; life <= 2; life += 1) {
    const consumer = startConsumer(t, url, { visibilityMs: 300, hold: true });
    await consumer.until('got');
    consumer.child.kill('SIGKILL');
    await consumer.child;
  }
  const dead = await until('the dead letter', async () => {
    assert.deepEqual(await receiveNow(transport, 'orders'), []);
    return (await transport.deadMessages('orders'))[0];
  });
  assert.equal(dead.receiveCount, 2);
  assert.equal(dead.attempts.length, 2);
});

test('A25: SIGTERM hands back what is held at once; SIGKILL gives it back when the visibility ends', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const drained = startConsumer(t, url, { visibilityMs: 600_000, hold: true });
  await drained.until('got');
  drained.child.kill('SIGTERM');
  assert.equal((await drained.child).exitCode, 0);
  assert.equal(drained.said('back').length, 1);
  const killed = startConsumer(t, url, { visibilityMs: 500, hold: true });
  await killed.until('got');
  killed.child.kill('SIGKILL');
  await killed.child;
  const again = await receiveOne(transport, 'orders');
  assert.deepEqual(
    again.attempts.map((attempt) => attempt.outcome),
    ['handed back', 'visibility ran out'],
  );
  // The drain cost nothing, the kill cost one.
  assert.equal(again.receiveCount, 2);
});

test('A25: of 200 messages, with one consumer told to stop and one killed half way, each is acked once', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  const first = [1, 2, 3].map(() => startConsumer(t, url, { visibilityMs: 2_000 }));
  const [told, killed, stays] = first;
  assert.ok(told && killed && stays);
  await Promise.all(first.map((consumer) => consumer.until('ready')));
  const bodies = Array.from({ length: 200 }, (_, body) => ({ body }));
  await transport.send(pool, 'orders', bodies);
  await Promise.all([told.until('acked'), killed.until('acked')]);
  told.child.kill('SIGTERM');
  killed.child.kill('SIGKILL');
  await Promise.all([told.child, killed.child]);
  await until('an empty queue', async () => {
    const counts = await transport.counts('orders');
    return counts.available + counts.inFlight + counts.delayed === 0;
  });
  stays.child.kill('SIGTERM');
  await stays.child;
  const acked = first.flatMap((consumer) => consumer.said('acked'));
  // What the killed one acked last it may not have lived to say.
  assert.ok(acked.length >= 199 && acked.length <= 200, `${acked.length} acks were heard of`);
  assert.equal(new Set(acked).size, acked.length);
});

test('A21: a consumer whose clock is ten minutes ahead steals nothing that is held and nothing that is delayed', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 'held' }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 300_000 });
  await transport.send(pool, 'orders', [{ body: 'delayed', delayMs: 300_000 }]);
  const ahead = startConsumer(t, url, {
    visibilityMs: 60_000,
    preload: `const now=Date.now;Date.now=()=>now()+600000;const D=Date;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(Date.now())}}`,
  });
  await ahead.until('ready');
  await transport.send(pool, 'orders', [{ body: 'due' }]);
  await ahead.until('acked');
  assert.equal(ahead.said('got').length, 1);
  assert.equal(await transport.ack('orders', held.receipt), 'ok');
  assert.equal((await transport.counts('orders')).delayed, 1);
});

test('SIGKILL of Postgres loses no message that was sent, brings none back that was acked, and the consumer goes on', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'q2t-crash-'));
  const postgres = await startPostgres({ dataDir });
  const url = postgres.urlOf('postgres');
  await migrate(url);
  const pool = openPool({ url, applicationName: 'crash' });
  const transport = await openTransport({
    pool,
    profile: 'postgres',
    listen: true,
    listener: { heartbeatMs: 100, reconnectMs: 50 },
  });
  t.after(async () => {
    await transport.close();
    await pool.end();
    await postgres.process.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  await transport.send(pool, 'orders', [{ body: 'acked' }, { body: 'held' }, { body: 'waiting' }]);
  const first = await receiveOne(transport, 'orders');
  assert.equal(await transport.ack('orders', first.receipt), 'ok');
  const held = await receiveOne(transport, 'orders', { visibilityMs: 1_000 });
  await postgres.process.kill();
  await assert.rejects(transport.counts('orders'), (error) => error instanceof Error);
  await postgres.process.start();

  // Whether the claim had reached the disk is open: then the receipt is good, or else it is stale
  // and the message comes again. In both cases one delivery of it counts, never two.
  const answer = await until('an answer', () =>
    transport.ack('orders', held.receipt).catch(() => undefined),
  );
  const left = new Set<unknown>();
  while (left.size < (answer === 'ok' ? 1 : 2)) {
    const message = await receiveOne(transport, 'orders');
    assert.equal(await transport.ack('orders', message.receipt), 'ok');
    left.add(message.body);
  }
  assert.deepEqual([...left].sort(), answer === 'ok' ? ['waiting'] : ['held', 'waiting']);
  assert.equal((await transport.counts('orders')).available, 0);
  await until('hints again', () => transport.hints.state === 'listening');
});

test('a migration is applied while old consumers go on, and they notice nothing', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  const folder = await mkdtemp(join(tmpdir(), 'q2t-migrations-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(
    join(folder, '9001-expand.sql'),
    `ALTER TABLE queue.message ADD COLUMN priority smallint;
     ALTER TABLE queue.dead_message ADD COLUMN priority smallint;`,
  );
  await writeFile(
    join(folder, '9002-index.sql'),
    `-- concurrently
DROP INDEX CONCURRENTLY IF EXISTS queue.message_key;
CREATE INDEX CONCURRENTLY message_key ON queue.message (key);`,
  );
  let stopped = false;
  let handled = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (!stopped) {
      try {
        await transport.send(pool, 'orders', [{ body: 1 }, { body: 2 }]);
        const [one, two] = await receiveNow(transport, 'orders', 2);
        if (one) await transport.ack('orders', one.receipt);
        if (two) await transport.deadLetter('orders', two.receipt, 'for the test');
        await transport.redrive('orders');
        handled += 1;
      } catch (error) {
        failures.push(error);
        return;
      }
    }
  };
  const workers = [worker(), worker()];
  const moreThan = (count: number) => until(`${count} rounds`, () => handled > count);
  await moreThan(10);
  const applied = await migrate(url, { folder });
  await moreThan(handled + 10);
  stopped = true;
  await Promise.all(workers);
  assert.deepEqual(applied, ['9001-expand.sql', '9002-index.sql']);
  assert.deepEqual(failures, []);
});
