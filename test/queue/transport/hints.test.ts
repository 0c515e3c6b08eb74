import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { openPool, withTransaction } from '../../../queue/database.ts';
import type { ListenerState } from '../../../queue/transport/listener.ts';
import { Notifier } from '../../../queue/transport/notifier.ts';
import type { TransportSettings } from '../../../queue/transport/open.ts';
import { Waiters } from '../../../queue/transport/waiters.ts';
import { openProxy } from './proxy.ts';
import { until } from '../../support/until.ts';
import { inOpenTransaction, openAnother, openFresh, receiveOne } from './support.ts';

/** Polling so slow that a message which arrives within the test's wait can only be there by a hint. */
const HINTS_ONLY = { pollMs: 600_000, pollWithoutHintsMs: 600_000 };
const IMPATIENT = { heartbeatMs: 100, timeoutMs: 1_000, reconnectMs: 50 };

interface Reported {
  states: ListenerState['state'][];
  warnings: string[];
  reasons: string[];
}

function listening(): { settings: Partial<TransportSettings>; reported: Reported } {
  const reported: Reported = { states: [], warnings: [], reasons: [] };
  const note = (fields: object) => {
    if ('state' in fields) reported.states.push(fields.state as ListenerState['state']);
  };
  return {
    reported,
    settings: {
      ...HINTS_ONLY,
      listen: true,
      listener: IMPATIENT,
      log: {
        info: note,
        warn(fields, message) {
          note(fields);
          if ('reason' in fields) reported.reasons.push(String(fields.reason));
          reported.warnings.push(message);
        },
      },
    },
  };
}

/** A transport that depends on hints, over a wire that can go bad, and another process that sends. */
async function openOverProxy(t: TestContext) {
  const producer = await openFresh(t);
  const proxy = await openProxy(t, producer.url);
  const { settings, reported } = listening();
  const consumer = await openAnother(t, proxy.url, settings);
  await until('hints', () => consumer.transport.hints.state === 'listening');
  return { producer, proxy, consumer, reported };
}

/** Starts to receive, and returns once it has looked, found nothing and waits. */
async function startWaiting({ producer, consumer }: Awaited<ReturnType<typeof openOverProxy>>) {
  const waiting = receiveOne(consumer.transport, 'orders', { waitMs: 60_000 });
  await until('the receiver to have looked', async () => {
    const { rowCount } = await producer.pool.query(
      `SELECT FROM pg_stat_activity
       WHERE application_name = 'another' AND state = 'idle' AND query LIKE '%dueInMs%'`,
    );
    return rowCount === 1;
  });
  return { message: waiting };
}

test('a message sent by another process is received by its hint, without a poll', async (t) => {
  const opened = await openOverProxy(t);
  const { producer } = opened;
  const { message: waiting } = await startWaiting(opened);
  await producer.transport.send(producer.pool, 'orders', [{ body: 'news' }]);
  assert.equal((await waiting).body, 'news');
});

test('A14: after the listener was terminated it listens afresh, fetches what it missed, and says so', async (t) => {
  const opened = await openOverProxy(t);
  const { producer, consumer, reported } = opened;
  const { message: waiting } = await startWaiting(opened);
  const { rowCount } = await producer.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'another listener'`,
  );
  assert.equal(rowCount, 1);
  await until('a warning', () => reported.warnings.length > 0);
  // Sent into the gap as far as the test can tell; the forced fetch after LISTEN finds it anyway.
  await producer.transport.send(producer.pool, 'orders', [{ body: 'missed' }]);
  assert.equal((await waiting).body, 'missed');
  await until('hints again', () => consumer.transport.hints.state === 'listening');
  assert.deepEqual(reported.states.slice(0, 2), ['listening', 'polling']);

  const next = receiveOne(consumer.transport, 'orders');
  await producer.transport.send(producer.pool, 'orders', [{ body: 'back to normal' }]);
  assert.equal((await next).body, 'back to normal');
});

test('A14: a half-open listener is noticed by its heartbeat and replaced', async (t) => {
  const opened = await openOverProxy(t);
  const { producer, proxy, consumer, reported } = opened;
  const { message: waiting } = await startWaiting(opened);
  assert.equal(proxy.freezeListener(), 1);
  // Its hint goes into the void: only the reconnect brings this message.
  await producer.transport.send(producer.pool, 'orders', [{ body: 'missed' }]);
  assert.equal((await waiting).body, 'missed');
  assert.deepEqual(reported.states.slice(0, 2), ['listening', 'polling']);
  await until('hints again', () => consumer.transport.hints.state === 'listening');
});

test('A14: a session that lives but no longer listens is noticed by its heartbeat', async (t) => {
  const { proxy, consumer, reported } = await openOverProxy(t);
  await until('the loss to be noticed', () => {
    // Again and again: a heartbeat that was under way may have been swallowed with the answer.
    if (consumer.transport.hints.state === 'listening') proxy.unlisten();
    return reported.reasons.includes('the session no longer listens');
  });
  await until('hints again', () => consumer.transport.hints.state === 'listening');
});

test('a consumer whose every connection was cut goes on with the next receive', async (t) => {
  const { producer, proxy, consumer } = await openOverProxy(t);
  proxy.cut();
  await until('hints again', () => consumer.transport.hints.state === 'listening');
  await producer.transport.send(producer.pool, 'orders', [{ body: 1 }]);
  const message = await until('a receive', () =>
    receiveOne(consumer.transport, 'orders').catch(() => undefined),
  );
  assert.equal(message.body, 1);
});

test('without hints, polling is the floor', async (t) => {
  const producer = await openFresh(t);
  const consumer = await openAnother(t, producer.url, { pollWithoutHintsMs: 50 });
  assert.equal(consumer.transport.hints.state, 'polling');
  const waiting = receiveOne(consumer.transport, 'orders');
  await producer.transport.send(producer.pool, 'orders', [{ body: 'found' }]);
  assert.equal((await waiting).body, 'found');
});

test('a delayed message is received when it is due although nothing hints at it', async (t) => {
  const { pool, transport } = await openFresh(t, HINTS_ONLY);
  await transport.send(pool, 'orders', [{ body: 'due', delayMs: 400 }]);
  assert.equal((await receiveOne(transport, 'orders')).body, 'due');
});

test('A15: no NOTIFY runs in the transaction of a producer, and a thousand sends make few of them', async (t) => {
  const { pool, url, transport } = await openFresh(t, { notifyIntervalMs: 100 });
  const heard: string[] = [];
  const ear = new pg.Client({ connectionString: url });
  ear.on('error', () => undefined);
  await ear.connect();
  t.after(() => ear.end());
  ear.on('notification', ({ payload = '' }) => heard.push(payload));
  await ear.query('LISTEN q2t_message');

  const producing = await inOpenTransaction(t, url);
  await transport.send(producing, 'orders', [{ body: 'by hand' }]);
  await producing.query('COMMIT');
  await withTransaction(pool, (client) => transport.send(client, 'mail', [{ body: 'by hook' }]));
  await until('the hint of the hook', () => heard.length > 0);
  assert.deepEqual(heard, ['{"kind":"hint","queue":"mail"}']);

  await Promise.all(
    Array.from({ length: 1_000 }, (_, body) => transport.send(pool, 'lines', [{ body }])),
  );
  transport.hint('last');
  await until('the last hint', () => heard.some((payload) => payload.includes('last')));
  const hints = heard.filter((payload) => payload.includes('lines')).length;
  assert.ok(hints >= 1 && hints < 100, `${hints} hints for 1,000 sends`);
});

test('a hint that cannot be sent is reported, and whoever gave it does not notice', async () => {
  const nowhere = openPool({ url: 'postgres://127.0.0.1:1/none', applicationName: 'test' });
  const errors: unknown[] = [];
  const notifier = new Notifier(nowhere, new Waiters(() => 1_000), 10, (error) =>
    errors.push(error),
  );
  notifier.hint('orders');
  await until('the report', () => errors.length > 0);
  await notifier.close();
  await nowhere.end();
});
