import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ClientBase, Pool } from 'pg';
import { claim } from '../../../queue/transport/claim.ts';
import { until } from '../../support/until.ts';
import { inOpenTransaction, openAnother, openFresh, receiveNow, receiveOne } from './support.ts';

/*
 * The order of the steps is forced: one side holds its row locks in an open transaction, the other
 * is started, and goes on only after Postgres itself says that it waits (or that it did not).
 */

/** Resolves once some session of this database waits for a lock of `holder`. */
async function someoneWaitsFor(holder: ClientBase, observer: Pool): Promise<void> {
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await until('a session that waits for the lock', async () => {
    const { rowCount } = await observer.query(
      'SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))',
      [rows[0]?.pid],
    );
    return rowCount !== 0;
  });
}

const UNPREPARED = { prepared: false, flushClaims: false };

/** Claims in a transaction that stays open: a receiver in the middle of its claim. */
async function claimHalfway(t: TestContext, url: string, max: number, visibilityMs: number) {
  const client = await inOpenTransaction(t, url);
  const claimed = await claim(UNPREPARED, client, 'orders', max, visibilityMs);
  return { client, claimed };
}

test('two receivers at the same moment get different messages, and neither waits', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }, { body: 2 }, { body: 3 }]);
  const { client, claimed } = await claimHalfway(t, url, 2, 60_000);
  const others = await receiveNow(transport, 'orders');
  await client.query('COMMIT');
  assert.equal(claimed.length, 2);
  assert.equal(others.length, 1);
  const ids = new Set([...claimed, ...others].map((message) => message.messageId));
  assert.equal(ids.size, 3);
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
});

test('a receiver that dies in the middle of its claim takes nothing with it', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const { client } = await claimHalfway(t, url, 1, 60_000);
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
  await client.query('ROLLBACK');
  const [message] = await receiveNow(transport, 'orders');
  assert.equal(message?.receiveCount, 1);
});

test('ack against expiry: the ack is first, the second receiver passes over the row and gets nothing', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  const acking = await inOpenTransaction(t, url);
  assert.equal(await transport.ack('orders', held.receipt, acking), 'ok');
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
  await acking.query('COMMIT');
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
});

test('ack against expiry: the ack rolls back, and the message is there for the next receiver', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  const acking = await inOpenTransaction(t, url);
  await transport.ack('orders', held.receipt, acking);
  await acking.query('ROLLBACK');
  const [again] = await receiveNow(transport, 'orders');
  assert.equal(again?.receiveCount, 2);
});

test('ack against expiry: the second receiver is first, the ack waits for its claim and is stale', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  const { client, claimed } = await claimHalfway(t, url, 1, 60_000);
  const late = transport.ack('orders', held.receipt);
  await someoneWaitsFor(client, pool);
  await client.query('COMMIT');
  assert.equal(await late, 'stale');
  assert.equal((await transport.counts('orders')).inFlight, 1);
  assert.equal(await transport.ack('orders', claimed[0]?.receipt ?? ''), 'ok');
});

test('a late ack is still good while nobody else has received the message', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  assert.equal((await transport.counts('orders')).available, 1);
  assert.equal(await transport.ack('orders', held.receipt), 'ok');
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
});

test('extend against receive: the extend is first, the receiver passes over the row', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  assert.equal(await transport.extend('orders', held.receipt, 60_000), 'ok');
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
  assert.equal(await transport.ack('orders', held.receipt), 'ok');
});

test('extend against receive: the receiver is first, the extend waits and is stale', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  const { client, claimed } = await claimHalfway(t, url, 1, 60_000);
  const late = transport.extend('orders', held.receipt, 600_000);
  await someoneWaitsFor(client, pool);
  await client.query('COMMIT');
  assert.equal(await late, 'stale');
  const { rows } = await pool.query<{ visible_at: Date }>('SELECT visible_at FROM queue.message');
  assert.deepEqual(rows[0]?.visible_at, claimed[0]?.visibleAgainAt);
});

test('extend against sweep: the sweep passes over a message whose holder is extending it, and takes it the next time', async (t) => {
  const { pool, url, transport } = await openFresh(t, {
    profile: 'sqs',
    limits: { retentionMs: 60_000, deadRetentionMs: 60_000 },
  });
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders');
  await pool.query(`UPDATE queue.message SET sent_at = sent_at - interval '2 minutes'`);
  const extending = await inOpenTransaction(t, url);
  await extending.query('UPDATE queue.message SET visible_at = visible_at');
  assert.deepEqual(await transport.expire('orders'), { messages: 0, dead: 0 });
  await extending.query('COMMIT');
  assert.deepEqual(await transport.expire('orders'), { messages: 1, dead: 0 });
  assert.equal(await transport.extend('orders', held.receipt, 60_000), 'stale');
});

test('extend against sweep: the holder who extends while the sweep takes the message learns that it is gone', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders');
  const sweeping = await inOpenTransaction(t, url);
  await sweeping.query('DELETE FROM queue.message');
  const late = transport.extend('orders', held.receipt, 60_000);
  await someoneWaitsFor(sweeping, pool);
  await sweeping.query('COMMIT');
  assert.equal(await late, 'stale');
});

test('nack against ack of the same delivery: one of them wins, the other is stale', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const held = await receiveOne(transport, 'orders');
  const nacking = await inOpenTransaction(t, url);
  assert.equal(await transport.nack('orders', held.receipt, { delayMs: 0 }, nacking), 'ok');
  const late = transport.ack('orders', held.receipt);
  await someoneWaitsFor(nacking, pool);
  await nacking.query('COMMIT');
  assert.equal(await late, 'stale');
  assert.equal((await receiveNow(transport, 'orders')).length, 1);
});

test('two processes bury the same spent message: it is dead once', async (t) => {
  const { pool, url, transport } = await openFresh(t, { maxReceives: 1 });
  const other = await openAnother(t, url, { maxReceives: 1 });
  await transport.send(pool, 'orders', [{ body: 1 }]);
  await receiveOne(transport, 'orders', { visibilityMs: 0 });
  const both = await Promise.all([
    receiveNow(transport, 'orders'),
    receiveNow(other.transport, 'orders'),
  ]);
  assert.deepEqual(both, [[], []]);
  assert.equal((await transport.deadMessages('orders')).length, 1);
  assert.equal((await transport.counts('orders')).available, 0);
});

test('a process that dies between claiming a spent message and burying it leaves it to the next', async (t) => {
  const { pool, url, transport } = await openFresh(t, { maxReceives: 2 });
  await transport.send(pool, 'orders', [{ body: 1 }]);
  await receiveOne(transport, 'orders', { visibilityMs: 0 });
  await receiveOne(transport, 'orders', { visibilityMs: 0 });
  // The claim of the process that dies: counted, and never buried.
  const { client, claimed } = await claimHalfway(t, url, 1, 0);
  await client.query('COMMIT');
  assert.equal(claimed[0]?.receiveCount, 3);
  assert.deepEqual(await receiveNow(transport, 'orders'), []);
  const [dead] = await transport.deadMessages('orders');
  assert.equal(dead?.receiveCount, 2);
});

test('redrive from two consoles at once brings every dead message back once', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  const other = await openAnother(t, url);
  await transport.send(pool, 'orders', [{ body: 1 }, { body: 2 }, { body: 3 }]);
  for (const message of await receiveNow(transport, 'orders')) {
    await transport.deadLetter('orders', message.receipt, 'down');
  }
  const first = await inOpenTransaction(t, url);
  assert.equal(await transport.redrive('orders', undefined, first), 3);
  const second = other.transport.redrive('orders');
  await someoneWaitsFor(first, pool);
  await first.query('COMMIT');
  assert.equal(await second, 0);
  assert.equal((await transport.counts('orders')).available, 3);
});

test('a purge and an ackMany that hold rows the other wants do not deadlock', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }, { body: 2 }, { body: 3 }]);
  const held = await receiveNow(transport, 'orders', 3);
  const [one, two, three] = held.map((message) => message.receipt);
  assert.ok(one && two && three);
  const acking = await inOpenTransaction(t, url);
  // Last first: the order that a purge from the front would meet head on.
  assert.equal(await transport.ack('orders', three, acking), 'ok');
  const purging = transport.purge('orders');
  await someoneWaitsFor(acking, pool);
  // Taken by the purge already, while it waits for the third and holds nothing.
  assert.deepEqual(await transport.ackMany('orders', [two, one], acking), ['stale', 'stale']);
  await acking.query('COMMIT');
  assert.equal(await purging, 2);
  assert.equal((await transport.counts('orders')).inFlight, 0);
});

test('fifty acked in reverse while the queue is purged: each of them is gone once', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(
    pool,
    'orders',
    Array.from({ length: 50 }, (_, body) => ({ body })),
  );
  const held = await receiveNow(transport, 'orders', 50);
  const receipts = held.map((message) => message.receipt).reverse();
  const [answers, purged] = await Promise.all([
    transport.ackMany('orders', receipts),
    transport.purge('orders'),
  ]);
  const acked = answers.filter((answer) => answer === 'ok').length;
  assert.equal(acked + purged, 50);
});

test('a consumer outlived by its visibility does not disturb the next one, whatever it tries', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const old = await receiveOne(transport, 'orders', { visibilityMs: 0 });
  const current = await receiveOne(transport, 'orders');
  const before = await pool.query('SELECT * FROM queue.message');
  await transport.ack('orders', old.receipt);
  await transport.extend('orders', old.receipt, 1);
  await transport.nack('orders', old.receipt, { delayMs: 0 });
  await transport.deadLetter('orders', old.receipt, 'no');
  assert.deepEqual((await pool.query('SELECT * FROM queue.message')).rows, before.rows);
  assert.equal(await transport.ack('orders', current.receipt), 'ok');
});

test('A21: a long transaction that sends late makes a message that is neither late nor early', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  const sending = await inOpenTransaction(t, url);
  const { rows } = await sending.query<{ began: Date }>('SELECT now() AS began');
  await until('the clock of the database to move on', async () => {
    const { rows: later } = await pool.query<{ moved: boolean }>(
      `SELECT clock_timestamp() > $1::timestamptz + interval '50 ms' AS moved`,
      [rows[0]?.began],
    );
    return later[0]?.moved;
  });
  await transport.send(sending, 'orders', [{ body: 1 }]);
  await sending.query('COMMIT');
  const message = await receiveOne(transport, 'orders');
  assert.ok(rows[0] && message.sentAt.getTime() - rows[0].began.getTime() >= 50);
});

test('the claim of two hundred messages by eight receivers gives out each of them once', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(
    pool,
    'orders',
    Array.from({ length: 200 }, (_, body) => ({ body })),
  );
  const seen: unknown[] = [];
  const receiver = async () => {
    for (;;) {
      const messages = await receiveNow(transport, 'orders', 7);
      if (messages.length === 0) return;
      seen.push(...messages.map((message) => message.body));
      const answers = await transport.ackMany(
        'orders',
        messages.map((m) => m.receipt),
      );
      assert.ok(answers.every((answer) => answer === 'ok'));
    }
  };
  await Promise.all(Array.from({ length: 8 }, receiver));
  assert.equal(seen.length, 200);
  assert.equal(new Set(seen).size, 200);
});

test('a lost connection in the middle of a claim is an error for the caller, not a lost message', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const { client } = await claimHalfway(t, url, 1, 60_000);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  await assert.rejects(client.query('COMMIT'), (error) => error instanceof Error);
  const message = await receiveOne(transport, 'orders');
  assert.equal(message.receiveCount, 1);
});
