import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterCommit, withTransaction } from '../../../queue/database.ts';
import { inOpenTransaction, openFresh, receiveNow, receiveOne } from './support.ts';

test('a message sent in a transaction exists when that commits, and never did when it rolls back', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await pool.query('CREATE TABLE booking (id int PRIMARY KEY)');
  const client = await inOpenTransaction(t, url);
  await client.query('INSERT INTO booking VALUES (1)');
  await transport.send(client, 'orders', [{ body: 'rolled back' }]);
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
  await client.query('ROLLBACK');
  await client.query('BEGIN');
  await transport.send(client, 'orders', [{ body: 'one' }, { body: 'two' }]);
  await client.query('COMMIT');
  const bodies = (await receiveNow(transport, 'orders')).map((message) => message.body);
  assert.deepEqual(bodies.sort(), ['one', 'two']);
});

test('ack, nack, dead-letter and redrive in a transaction roll back with it', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }, { body: 2 }, { body: 3 }, { body: 4 }]);
  const [a, b, c, d] = await receiveNow(transport, 'orders');
  assert.ok(a && b && c && d);
  await transport.deadLetter('orders', d.receipt, 'down');
  const client = await inOpenTransaction(t, url);
  assert.equal(await transport.ack('orders', a.receipt, client), 'ok');
  assert.equal(await transport.nack('orders', b.receipt, { delayMs: 0 }, client), 'ok');
  assert.equal(await transport.deadLetter('orders', c.receipt, 'no', client), 'ok');
  assert.equal(await transport.redrive('orders', undefined, client), 2);
  assert.equal(await transport.discard('orders', [d.messageId], client), 0);
  await client.query('ROLLBACK');
  const counts = await transport.counts('orders');
  assert.deepEqual([counts.inFlight, counts.available, counts.dead], [3, 0, 1]);
  assert.deepEqual(await transport.ackMany('orders', [a.receipt, b.receipt, c.receipt]), [
    'ok',
    'ok',
    'ok',
  ]);
});

test('a business row and the ack that marks it done commit together or not at all', async (t) => {
  const { pool, transport } = await openFresh(t);
  await pool.query('CREATE TABLE invoice (order_ref text PRIMARY KEY)');
  await transport.send(pool, 'orders', [{ body: 'PO-1' }]);
  const work = async (receipt: string, dies: boolean) =>
    withTransaction(pool, async (client) => {
      await client.query(`INSERT INTO invoice VALUES ('PO-1')`);
      assert.equal(await transport.ack('orders', receipt, client), 'ok');
      if (dies) throw new Error('worker lost');
    });
  const first = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  await assert.rejects(work(first.receipt, true), /worker lost/);
  assert.equal((await pool.query('SELECT FROM invoice')).rowCount, 0);
  const second = await receiveOne(transport, 'orders');
  await work(second.receipt, false);
  assert.equal((await pool.query('SELECT FROM invoice')).rowCount, 1);
  assert.equal((await transport.counts('orders')).inFlight, 0);
});

test('hooks run after the commit, in order, and not after a rollback', async (t) => {
  const { pool } = await openFresh(t);
  const ran: string[] = [];
  await withTransaction(pool, (client) => {
    assert.equal(
      afterCommit(client, () => ran.push('first')),
      true,
    );
    afterCommit(client, () => ran.push('second'));
    assert.deepEqual(ran, []);
    return Promise.resolve();
  });
  assert.deepEqual(ran, ['first', 'second']);
  await assert.rejects(
    withTransaction(pool, (client) => {
      afterCommit(client, () => ran.push('never'));
      return Promise.reject(new Error('no'));
    }),
    /no/,
  );
  assert.deepEqual(ran, ['first', 'second']);
});

test('a client in a transaction of its own making gets no hook, and is told so', async (t) => {
  const { url } = await openFresh(t);
  const client = await inOpenTransaction(t, url);
  assert.equal(
    afterCommit(client, () => assert.fail('ran')),
    false,
  );
});

test('a transaction whose connection dies gives the connection up instead of back', async (t) => {
  const { pool } = await openFresh(t);
  const work = withTransaction(pool, async (client) => {
    client.on('error', () => undefined);
    await client.query('SELECT pg_terminate_backend(pg_backend_pid())');
  });
  await assert.rejects(work, (error) => error instanceof Error);
  const { rows } = await pool.query<{ ok: number }>('SELECT 1 AS ok');
  assert.equal(rows[0]?.ok, 1);
});

test('every connection of a pool bounds its statements, its locks and its idle transactions', async (t) => {
  const { pool } = await openFresh(t);
  const { rows } = await pool.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN
       ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'application_name')`,
  );
  const settings = Object.fromEntries(rows.map((row) => [row.name, row.setting]));
  assert.deepEqual(settings, {
    application_name: 'test',
    statement_timeout: '30000',
    lock_timeout: '10000',
    idle_in_transaction_session_timeout: '6000',
  });
});
