import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import pg from 'pg';
import { copyIn } from './copy.ts';
import { until } from '../../../support/until.ts';
import { wired } from './wired.ts';

/** Everything a client does with Postgres here, as a list of what came back. */
async function conversation(client: pg.Client): Promise<unknown[]> {
  const seen: unknown[] = [];
  const ask = async (query: string | pg.QueryConfig) => {
    const { rows, rowCount, command } = await client.query<pg.QueryResultRow>(query);
    seen.push({ rows, rowCount, command });
  };
  await ask('CREATE TEMP TABLE t (id int PRIMARY KEY, name text, data bytea)');
  await ask({ text: 'INSERT INTO t VALUES ($1, $2, $3)', values: [1, 'é€😀', Buffer.alloc(9, 7)] });
  for (const id of [2, 3])
    await ask({ name: 'add', text: 'INSERT INTO t VALUES ($1, $2)', values: [id, null] });
  await ask({ name: 'read', text: 'SELECT * FROM t WHERE id >= $1 ORDER BY id', values: [1] });
  await client.query('INSERT INTO t VALUES (1)').catch((error: unknown) => {
    assert.ok(error instanceof pg.DatabaseError);
    seen.push(error.code, error.detail);
  });
  await client.query('SELEC 1').catch((error: unknown) => {
    assert.ok(error instanceof pg.DatabaseError);
    seen.push(error.code, error.position);
  });
  await ask('BEGIN; UPDATE t SET name = name; SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; COMMIT');
  await ask("SELECT count(*) FROM t; SELECT 'two'");
  await ask('');
  await copyIn(
    client,
    'COPY t (id) FROM STDIN',
    Array.from({ length: 9_000 }, (_, n) => `${n + 9}\n`).join(''),
  );
  await ask('SELECT count(*), sum(id) FROM t');
  await ask('BEGIN');
  await client.query('SELECT 1/0').catch((error: unknown) => seen.push(String(error)));
  await client.query('SELECT 1').catch((error: unknown) => seen.push(String(error)));
  await ask('ROLLBACK');
  return seen;
}

test('a conversation through an idle proxy comes back as without it', async (t) => {
  const { client, direct } = await wired(t);
  assert.deepEqual(await conversation(await client()), await conversation(direct));
});

test('rows and parameters of megabytes pass unchanged in both directions', async (t) => {
  const { client } = await wired(t);
  const wire = await client();
  const large = randomBytes(6_000_000);
  const { rows } = await wire.query<{ back: Buffer; text: string }>(
    'SELECT $1::bytea AS back, $2::text AS text',
    [large, large.toString('base64')],
  );
  assert.ok(rows[0]?.back.equals(large));
  assert.equal(rows[0]?.text, large.toString('base64'));
  const many = await wire.query<{ n: number }>('SELECT n FROM generate_series(1, 100000) AS n');
  assert.equal(many.rows.at(-1)?.n, 100_000);
});

test('a client that does not read stops the server, not the memory of the proxy', async (t) => {
  const { client, direct } = await wired(t);
  const wire = await client('slow');
  const waitsFor = async () => {
    const { rows } = await direct.query<{ wait_event: string | null }>(
      "SELECT wait_event FROM pg_stat_activity WHERE application_name = 'slow'",
    );
    return rows[0]?.wait_event;
  };
  streamOf(wire).pause();
  const answer = wire.query("SELECT repeat('x', 1000000) AS x FROM generate_series(1, 60)");
  // Sixty megabytes are more than sockets and proxy hold, so the server cannot finish: it stays there.
  let stays = 0;
  await until('the server to stay where it is', async () => {
    stays = (await waitsFor()) === 'ClientWrite' ? stays + 1 : 0;
    return stays === 20;
  });
  streamOf(wire).resume();
  assert.equal((await answer).rowCount, 60);
});

/** The socket under a client; pg keeps it and has no type for it. */
function streamOf(client: pg.Client): net.Socket {
  const connection: unknown = Reflect.get(client, 'connection');
  assert.ok(typeof connection === 'object' && connection !== null);
  const stream: unknown = Reflect.get(connection, 'stream');
  assert.ok(stream instanceof net.Socket);
  return stream;
}

test('a notification reaches a listener through the proxy', async (t) => {
  const { client, direct } = await wired(t);
  const listener = await client();
  await listener.query('LISTEN orders');
  const heard = once(listener, 'notification');
  await direct.query("NOTIFY orders, 'PO-1'");
  const [message] = (await heard) as [pg.Notification];
  assert.equal(message.payload, 'PO-1');
});

test('a client that asks for TLS is told to go on in the clear', async (t) => {
  const { proxy } = await wired(t);
  const socket = net.connect(proxy.port, proxy.host);
  t.after(() => socket.destroy());
  const request = Buffer.alloc(8);
  request.writeInt32BE(8, 0);
  request.writeInt32BE(80_877_103, 4);
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.equal(answer.toString(), 'N');
});

test('a cancel request passes and cancels the statement', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const wire = await client();
  const { rows } = await wire.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const cancelled = assert.rejects(wire.query('SELECT pg_sleep(60)'), /canceling statement/);
  // A cancel that comes before its statement cancels nothing.
  await until('the statement to run', async () => {
    const { rowCount } = await direct.query(
      "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'",
      [rows[0]?.pid],
    );
    return rowCount === 1;
  });
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(80_877_102, 4);
  request.writeInt32BE(rows[0]?.pid ?? 0, 8);
  request.writeInt32BE(secretKeyOf(wire), 12);
  const socket = net.connect(proxy.port, proxy.host);
  socket.end(request);
  await once(socket, 'close');
  await cancelled;
});

/** Postgres' secret for cancelling; pg keeps it and has no type for it. */
function secretKeyOf(client: pg.Client): number {
  const key: unknown = Reflect.get(client, 'secretKey');
  assert.ok(typeof key === 'number');
  return key;
}

test('a client that leaves takes its server connection with it, and close leaves none', async (t) => {
  const { client, direct, proxy } = await wired(t);
  const backends = async () => {
    const { rows } = await direct.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'worker'",
    );
    return rows[0]?.n;
  };
  const first = await client();
  await client();
  assert.equal(await backends(), 2);
  await first.end();
  await until('one connection at the server', async () => (await backends()) === 1);
  await until('one connection at the proxy', async () => proxy.connections().length === 1);
  await proxy.close();
  await until('no connection at the server', async () => (await backends()) === 0);
  await assert.rejects(client(), /ECONNREFUSED/);
});

test('a database that is not there looks as without the proxy: no connection', async (t) => {
  const { client } = await wired(t, { upstream: { host: '127.0.0.1', port: 1 } });
  await assert.rejects(client(), /terminated|ECONNRESET/);
});
