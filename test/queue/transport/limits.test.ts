import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LimitError, limitsOf, POSTGRES, SQS } from '../../../queue/transport/limits.ts';
import { openFresh, receiveNow, receiveOne } from './support.ts';

const minute = 60_000;

test('the sqs profile says what the reading says', () => {
  assert.equal(SQS.maxDelayMs, 900_000);
  assert.equal(SQS.maxVisibilityMs, 12 * 60 * minute);
  assert.equal(SQS.deadRetentionMs, 14 * 24 * 60 * minute);
  assert.equal(SQS.maxInFlight, 120_000);
  assert.equal(SQS.maxBodyBytes, 256 * 1024);
});

test('A23: on sqs a delay of 900 s is taken and one of 901 s is refused, with where to put it', async (t) => {
  const { pool, transport } = await openFresh(t, { profile: 'sqs' });
  await transport.send(pool, 'orders', [{ body: 1, delayMs: 900_000 }]);
  await assert.rejects(transport.send(pool, 'orders', [{ body: 1, delayMs: 901_000 }]), (error) => {
    assert.ok(error instanceof LimitError);
    assert.equal(error.field, 'delayMs');
    assert.match(error.message, /901000.*900000.*timer/);
    return true;
  });
  assert.equal((await transport.counts('orders')).delayed, 1);
});

test('A24: on Postgres a delay of 25 days is just a row, and is not due early', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1, delayMs: 25 * 24 * 60 * minute }]);
  const looked = await transport.receive('orders', { max: 1, visibilityMs: minute, waitMs: 300 });
  assert.deepEqual(looked, []);
  assert.equal((await transport.counts('orders')).delayed, 1);
});

test('on sqs a visibility of more than 12 hours is refused, in receive and in extend', async (t) => {
  const { pool, transport } = await openFresh(t, { profile: 'sqs' });
  const visibilityMs = 12 * 60 * minute;
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const refused = { name: 'LimitError', field: 'visibilityMs' };
  const tooLong = { max: 1, visibilityMs: visibilityMs + 1, waitMs: 0 };
  await assert.rejects(transport.receive('orders', tooLong), refused);
  const message = await receiveOne(transport, 'orders', { visibilityMs });
  await assert.rejects(transport.extend('orders', message.receipt, visibilityMs + 1), refused);
});

test('on sqs the 12 hours count from the receive, so extensions do not add up beyond them', async (t) => {
  const { pool, transport } = await openFresh(t, { profile: 'sqs' });
  await transport.send(pool, 'orders', [{ body: 1 }]);
  const message = await receiveOne(transport, 'orders');
  await pool.query(`UPDATE queue.message SET claimed_at = claimed_at - interval '11 hours'`);
  assert.equal(await transport.extend('orders', message.receipt, 59 * minute), 'ok');
  await assert.rejects(transport.extend('orders', message.receipt, 61 * minute), {
    name: 'LimitError',
    field: 'visibilityMs',
  });
  // The refusal changed nothing: the message is still held for the 59 minutes.
  assert.equal((await transport.counts('orders')).inFlight, 1);
  assert.equal(await transport.ack('orders', message.receipt), 'ok');
});

test('a body of 256 KB is taken and one byte more is refused, unless the newer 1 MiB is set', async (t) => {
  const { pool, transport } = await openFresh(t, { profile: 'sqs' });
  const fits = 'x'.repeat(SQS.maxBodyBytes - 2);
  await transport.send(pool, 'orders', [{ body: fits }]);
  await assert.rejects(transport.send(pool, 'orders', [{ body: `${fits}x` }]), {
    name: 'LimitError',
    field: 'messages[0].body',
  });
  // Counted in bytes of UTF-8, not in characters.
  await assert.rejects(transport.send(pool, 'orders', [{ body: 'é'.repeat(140_000) }]), {
    name: 'LimitError',
  });
  const newer = await openFresh(t, { profile: 'sqs', limits: { maxBodyBytes: 1_048_576 } });
  await newer.transport.send(newer.pool, 'orders', [{ body: `${fits}x` }]);
});

test('on sqs the bodies of a batch count together, and a batch is at most ten', async (t) => {
  const { pool, transport } = await openFresh(t, { profile: 'sqs' });
  const body = 'x'.repeat(30_000);
  await transport.send(
    pool,
    'orders',
    Array.from({ length: 8 }, () => ({ body })),
  );
  await assert.rejects(
    transport.send(
      pool,
      'orders',
      Array.from({ length: 9 }, () => ({ body })),
    ),
    { name: 'LimitError', field: 'messages[8].body' },
  );
  await assert.rejects(
    transport.send(
      pool,
      'orders',
      Array.from({ length: 11 }, () => ({ body: 1 })),
    ),
    { name: 'LimitError', field: 'messages' },
  );
  assert.equal((await transport.counts('orders')).available, 8);
});

test('on sqs a receive asks for ten at most and waits twenty seconds at most', async (t) => {
  const { transport } = await openFresh(t, { profile: 'sqs' });
  const options = { max: 1, visibilityMs: 1_000, waitMs: 0 };
  await assert.rejects(transport.receive('orders', { ...options, max: 11 }), { field: 'max' });
  await assert.rejects(transport.receive('orders', { ...options, max: 0 }), { field: 'max' });
  await assert.rejects(transport.receive('orders', { ...options, max: NaN }), { field: 'max' });
  await assert.rejects(transport.receive('orders', { ...options, waitMs: 20_001 }), {
    field: 'waitMs',
  });
});

test('a receive is refused while as many messages are in flight as the profile allows', async (t) => {
  const { pool, transport } = await openFresh(t, { profile: 'sqs', limits: { maxInFlight: 3 } });
  await transport.send(pool, 'orders', [{ body: 1 }, { body: 2 }, { body: 3 }, { body: 4 }]);
  const held = await receiveNow(transport, 'orders', 3);
  await assert.rejects(receiveNow(transport, 'orders', 1), {
    name: 'LimitError',
    field: 'inFlight',
  });
  await transport.ack('orders', held[0]?.receipt ?? '');
  assert.equal((await receiveNow(transport, 'orders', 1)).length, 1);
});

test('A19: a message that dies on its third day of four is gone from the dead letters after the fourth', async (t) => {
  const day = 24 * 60 * minute;
  const { pool, transport } = await openFresh(t, {
    profile: 'sqs',
    limits: { retentionMs: 4 * day, deadRetentionMs: 4 * day },
  });
  const daysPass = async (days: number) => {
    for (const table of ['message', 'dead_message']) {
      await pool.query(`UPDATE queue.${table} SET sent_at = sent_at - make_interval(days => $1)`, [
        days,
      ]);
    }
  };
  await transport.send(pool, 'orders', [{ body: 1, key: 'order/1/charge' }]);
  await daysPass(3);
  assert.deepEqual(await transport.expire('orders'), { messages: 0, dead: 0 });
  const message = await receiveOne(transport, 'orders');
  await transport.deadLetter('orders', message.receipt, 'refused');
  assert.deepEqual(await transport.expire('orders'), { messages: 0, dead: 0 });
  await daysPass(1);
  assert.deepEqual(await transport.expire('orders'), { messages: 0, dead: 1 });

  await transport.send(pool, 'orders', [{ body: 2 }]);
  await daysPass(4);
  assert.deepEqual(await transport.expire('orders'), { messages: 1, dead: 0 });
});

test('without a retention nothing expires', async (t) => {
  const { pool, transport } = await openFresh(t);
  await transport.send(pool, 'orders', [{ body: 1 }]);
  await pool.query(`UPDATE queue.message SET sent_at = sent_at - interval '9 years'`);
  assert.deepEqual(await transport.expire('orders'), { messages: 0, dead: 0 });
});

test('retentions that sqs would refuse are refused, and a dead letter must not expire before its message', () => {
  for (const retentionMs of [null, 59_000, 15 * 24 * 60 * minute, NaN]) {
    assert.throws(() => limitsOf('sqs', { retentionMs }), { field: 'retentionMs' });
  }
  assert.throws(() => limitsOf('sqs', { deadRetentionMs: 3 * 24 * 60 * minute }), {
    field: 'deadRetentionMs',
  });
  assert.throws(() => limitsOf('postgres', { deadRetentionMs: minute }), {
    field: 'deadRetentionMs',
  });
  assert.deepEqual(limitsOf('postgres'), POSTGRES);
});

test('queue names, keys, bodies and message ids that cannot work are refused by name', async (t) => {
  const { pool, transport } = await openFresh(t);
  for (const queue of [
    '',
    'Orders',
    '1st',
    'a b',
    'x'.repeat(81),
    "o'; DROP TABLE queue.message",
  ]) {
    await assert.rejects(transport.send(pool, queue, [{ body: 1 }]), { field: 'queue' });
    await assert.rejects(receiveNow(transport, queue), { field: 'queue' });
  }
  for (const key of ['', 'a\0b', 'é'.repeat(201)]) {
    await assert.rejects(transport.send(pool, 'orders', [{ body: 1, key }]), { field: 'key' });
  }
  for (const ids of [['x'], ['1', ''], ['9'.repeat(19)], ["1'"]]) {
    await assert.rejects(transport.redrive('orders', ids), { field: 'messageIds' });
    await assert.rejects(transport.discard('orders', ids), { field: 'messageIds' });
  }
  await assert.rejects(transport.deadMessages('orders', { limit: 0 }), { field: 'limit' });
  await assert.rejects(transport.deadMessages('orders', { after: 'x' }), { field: 'after' });
  for (const body of [undefined, () => 1, Symbol('x')]) {
    await assert.rejects(transport.send(pool, 'orders', [{ body }]), {
      field: 'messages[0].body',
    });
  }
});

test('maxReceives that is no whole number of at least one is refused when the transport is opened', async (t) => {
  for (const maxReceives of [0, -1, 1.5, NaN]) {
    await assert.rejects(openFresh(t, { maxReceives }), /maxReceives/);
  }
});
