import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import { NeverFired } from '../../../../lab/wire/fault.ts';
import type { Side } from '../../../../lab/wire/fault.ts';
import { RUN, step, stepOf } from './steps.ts';
import { until } from '../../../support/until.ts';
import { wired } from './wired.ts';

const THIRD = `${RUN} | update run, insert into history #3`;

function startWorker(t: TestContext, url: string): { child: ChildProcess; told: () => string } {
  const file = fileURLToPath(new URL('worker.ts', import.meta.url));
  const child = spawn(process.execPath, [file, url], { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  child.stdout.on('data', (data: Buffer) => (told += data.toString()));
  t.after(() => child.kill('SIGKILL'));
  return { child, told: () => told };
}

for (const [side, done] of [
  ['before', 2],
  ['after', 3],
] as [Side, number][])
  test(`a worker killed ${side} its third commit leaves ${done} steps done, knowing of two`, async (t) => {
    const { direct, directUrl, proxy } = await wired(t);
    const { child, told } = startWorker(t, proxy.url(directUrl, 'victim'));
    const exited = once(child, 'exit');
    const armed = proxy.arm({
      at: THIRD,
      side,
      action: 'stop-the-world',
      meanwhile: async () => {
        child.kill('SIGKILL');
        await exited;
      },
    });
    assert.equal((await armed.done).name, THIRD);
    assert.equal(told(), '1\n2\n');
    // The server has noticed that its client is gone, and what it did not commit is undone.
    await until('the end of the connection at the server', async () => {
      const { rowCount } = await direct.query(
        "SELECT FROM pg_stat_activity WHERE application_name = 'victim'",
      );
      return rowCount === 0;
    });
    assert.equal(await stepOf(direct), done);
    assert.equal(proxy.boundaries().length, done);
    assert.deepEqual(proxy.connections('victim'), []);
    assert.deepEqual(proxy.unfired(), []);
  });

for (const [side, rows] of [
  ['before', 0],
  ['after', 1],
] as [Side, number][])
  test(`a single write is ${rows === 0 ? 'not ' : ''}there when the world stops ${side} it`, async (t) => {
    const { client, direct, proxy } = await wired(t);
    const wire = await client();
    const count = async () => (await direct.query('SELECT FROM history')).rowCount;
    let whileStopped: number | null = null;
    const armed = proxy.arm({
      at: `${RUN} | insert into history #1`,
      side,
      action: 'stop-the-world',
      meanwhile: async () => {
        whileStopped = await count();
      },
    });
    await assert.rejects(
      wire.query('INSERT INTO history (run, what) VALUES ($1, $2)', [RUN, 'x']),
      /terminated|ECONNRESET/,
    );
    await armed.done;
    assert.equal(whileStopped, rows);
    assert.equal(await count(), rows);
  });

test('the world stops for all connections of the client and for nobody else', async (t) => {
  const { client, proxy } = await wired(t);
  const [striking, sibling, stranger] = [await client(), await client(), await client('other')];
  const release = Promise.withResolvers<void>();
  const armed = proxy.arm({
    at: ({ run }) => run === RUN,
    side: 'after',
    action: 'stop-the-world',
    meanwhile: () => release.promise,
  });
  const lost = assert.rejects(step(striking), /terminated|ECONNRESET/);
  await armed.fired;
  const unanswered = assert.rejects(sibling.query('SELECT 1'), /terminated|ECONNRESET/);
  assert.equal((await stranger.query('SELECT 1')).rowCount, 1);
  assert.deepEqual(
    proxy.connections().map(({ state }) => state),
    ['shut', 'shut', 'open'],
  );
  release.resolve();
  await Promise.all([lost, unanswered, armed.done]);
  assert.equal((await stranger.query('SELECT 1')).rowCount, 1);
  assert.equal(proxy.connections().length, 1);
});

test('a delayed commit lands late, and its client hears of it late', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const wire = await client();
  const release = Promise.withResolvers<void>();
  const armed = proxy.arm({
    at: ({ run }) => run === RUN,
    side: 'before',
    action: 'delay',
    meanwhile: () => release.promise,
  });
  const late = step(wire);
  await armed.fired;
  assert.equal(await stepOf(direct), 0);
  release.resolve();
  await late;
  await armed.done;
  assert.equal(await stepOf(direct), 1);
  await step(wire);
  assert.equal(await stepOf(direct), 2);
});

test('cut connections are closed at both ends; the client can come back', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const wire = await client();
  const ended = new Promise((resolve) => wire.once('end', resolve));
  await wire.query('BEGIN');
  await wire.query('UPDATE run SET step = 7');
  assert.equal(proxy.cut('nobody'), 0);
  assert.equal(proxy.cut('worker'), 1);
  await ended;
  await step(await client());
  assert.equal(await stepOf(direct), 1);

  const armed = proxy.arm({ at: ({ run }) => run === RUN, side: 'after', action: 'cut' });
  await assert.rejects(step(await client()), /terminated|ECONNRESET/);
  await armed.done;
  assert.equal(await stepOf(direct), 2);
});

test('on a half-open connection nothing is answered, nothing arrives and nothing is closed', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const [wire, other] = [await client('half'), await client()];
  let ended = false;
  wire.on('end', () => (ended = true));
  await wire.query('LISTEN orders');
  let heard = false;
  wire.on('notification', () => (heard = true));
  assert.equal(proxy.halfOpen('half'), 1);
  const answered = Promise.race([
    wire.query('UPDATE run SET step = 9').then(
      () => 'answered',
      () => 'failed',
    ),
    // Long enough for what comes after on an open connection to have come.
    direct
      .query('NOTIFY orders')
      .then(() => other.query('SELECT 1'))
      .then(() => 'silent'),
  ]);
  assert.equal(await answered, 'silent');
  assert.equal(await stepOf(direct), 0);
  assert.deepEqual([heard, ended], [false, false]);
  assert.deepEqual(proxy.connections('half'), [{ client: 'half', state: 'shut' }]);
  const backends = await direct.query(
    "SELECT state, query FROM pg_stat_activity WHERE application_name = 'half'",
  );
  assert.deepEqual(backends.rows, [{ state: 'idle', query: 'LISTEN orders' }]);
  await proxy.close();
  await until('the end of the client', async () => ended);
});

test('half-open after a commit: done at the server, never known at the client', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const wire = await client();
  const armed = proxy.arm({ at: ({ run }) => run === RUN, side: 'after', action: 'half-open' });
  const lost = assert.rejects(step(wire), /terminated|ECONNRESET/);
  await armed.done;
  assert.equal(await stepOf(direct), 1);
  assert.deepEqual(proxy.connections('worker'), [{ client: 'worker', state: 'shut' }]);
  await proxy.close();
  await lost;
});

test('a fault strikes once; one that never fires says so', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const once_ = proxy.arm({ at: ({ run }) => run === RUN, side: 'after', action: 'cut' });
  const never = proxy.arm({ at: `${RUN} | nothing #1`, side: 'before', action: 'cut' });
  await assert.rejects(step(await client()));
  await step(await client());
  assert.equal(await stepOf(direct), 2);
  assert.equal(once_.state, 'fired');
  assert.deepEqual(
    proxy.unfired().map(({ description }) => description),
    [`cut before ${RUN} | nothing #1`],
  );
  await proxy.close();
  await assert.rejects(never.fired, NeverFired);
  await assert.rejects(never.done, /never fired: cut before/);
});

test('a meanwhile that throws cuts the client and is not lost', async (t) => {
  const { client, proxy } = await wired(t);
  const armed = proxy.arm({
    at: ({ run }) => run === RUN,
    side: 'before',
    action: 'delay',
    meanwhile: () => Promise.reject(new Error('the lab is wrong')),
  });
  await assert.rejects(step(await client()), /terminated|ECONNRESET/);
  await assert.rejects(armed.done, /the lab is wrong/);
});
