import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { DUMP_FILE, dumpSchema } from '../../../queue/migrations/dump.ts';
import { migrate, readMigrations } from '../../../queue/migrations/migrate.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { inOpenTransaction } from './support.ts';

/** An empty database and a folder of migrations of the test's own. */
async function openScratch(t: TestContext, files: Record<string, string>) {
  const database = await emptyDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'q2t-migrations-'));
  t.after(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const write = async (more: Record<string, string>) => {
    for (const [name, sql] of Object.entries(more)) await writeFile(join(folder, name), sql);
  };
  await write(files);
  return { url: database.url, folder, write };
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

test('the project’s own migrations apply to an empty database, once', async (t) => {
  const { url } = await openScratch(t, {});
  const names = (await readMigrations()).map((migration) => migration.name);
  assert.deepEqual(await migrate(url), names);
  assert.deepEqual(await migrate(url), []);
});

test('the schema dump is what the migrations add up to; if this fails, run npm run schema', async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  assert.equal(await readFile(DUMP_FILE, 'utf8'), await dumpSchema(database.url));
});

test('the schema dump shows tables, constraints, defaults, options and functions', async (t) => {
  const { url } = await openScratch(t, {});
  await query(
    url,
    `CREATE SCHEMA queue;
     CREATE TABLE queue.a (id int PRIMARY KEY, name text COLLATE "C" NOT NULL DEFAULT 'x',
       n int CHECK (n > 0)) WITH (fillfactor = 50);
     CREATE INDEX a_name ON queue.a (name) WHERE n > 1`,
  );
  const before = await dumpSchema(url);
  for (const part of [`name text COLLATE "C" DEFAULT 'x'::text NOT NULL`, 'PRIMARY KEY (id)']) {
    assert.ok(before.includes(part), part);
  }
  for (const part of ['CHECK ((n > 0))', 'fillfactor=50', 'WHERE (n > 1)']) {
    assert.ok(before.includes(part), part);
  }
  await query(url, 'ALTER TABLE queue.a ADD COLUMN late boolean');
  assert.notEqual(await dumpSchema(url), before);
});

test('four processes that migrate at once apply every file once, one of them doing the work', async (t) => {
  const { url } = await openScratch(t, {});
  const applied = await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)]);
  const worked = applied.filter((names) => names.length > 0);
  assert.equal(worked.length, 1);
  const recorded = await query(url, 'SELECT name FROM queue.migration');
  assert.equal(recorded.length, worked[0]?.length);
});

test('a file that was edited after it was applied is refused by name', async (t) => {
  const scratch = await openScratch(t, { '0001-first.sql': 'CREATE TABLE queue.a ()' });
  await migrate(scratch.url, { folder: scratch.folder });
  await scratch.write({ '0001-first.sql': 'CREATE TABLE queue.b ()' });
  await assert.rejects(
    migrate(scratch.url, { folder: scratch.folder }),
    /0001-first\.sql was edited.*new file/,
  );
});

test('a database with more migrations than this code knows is left alone: old workers run on', async (t) => {
  const scratch = await openScratch(t, {
    '0001-first.sql': 'CREATE TABLE queue.a ()',
    '0002-second.sql': 'CREATE TABLE queue.b ()',
  });
  await migrate(scratch.url, { folder: scratch.folder });
  await rm(join(scratch.folder, '0002-second.sql'));
  assert.deepEqual(await migrate(scratch.url, { folder: scratch.folder }), []);
});

test('a file that fails leaves nothing of itself, keeps what came before it, and is named', async (t) => {
  const scratch = await openScratch(t, {
    '0001-first.sql': 'CREATE TABLE queue.a ()',
    '0002-broken.sql': 'CREATE TABLE queue.b (); SELECT 1 / 0',
  });
  await assert.rejects(
    migrate(scratch.url, { folder: scratch.folder }),
    /0002-broken\.sql failed: division by zero/,
  );
  const tables = await query(
    scratch.url,
    `SELECT relname FROM pg_class WHERE relnamespace = 'queue'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  assert.deepEqual(
    tables.map((row) => row['relname']),
    ['a', 'migration'],
  );
  await scratch.write({ '0002-broken.sql': 'CREATE TABLE queue.b ()' });
  assert.deepEqual(await migrate(scratch.url, { folder: scratch.folder }), ['0002-broken.sql']);
});

test('a file without a number is refused', async (t) => {
  const scratch = await openScratch(t, { 'first.sql': 'SELECT 1' });
  await assert.rejects(migrate(scratch.url, { folder: scratch.folder }), /first\.sql.*0001-/);
});

test('a DDL statement that waits for a worker’s lock gives up soon, lets others through, and tries again', async (t) => {
  const scratch = await openScratch(t, { '0001-first.sql': 'CREATE TABLE queue.a ()' });
  const options = { folder: scratch.folder, lockTimeoutMs: 100 };
  await migrate(scratch.url, options);
  const worker = await inOpenTransaction(t, scratch.url);
  await worker.query('SELECT FROM queue.a');
  await scratch.write({ '0002-alter.sql': 'ALTER TABLE queue.a ADD COLUMN n int' });
  await assert.rejects(
    migrate(scratch.url, { ...options, patienceMs: 300 }),
    /0002-alter\.sql failed: .*lock timeout/,
  );
  const waiting = migrate(scratch.url, options);
  // While it keeps trying, a reader that comes later is not stuck behind it for long.
  await query(scratch.url, 'SELECT FROM queue.a');
  await until('the migration to have given up once', async () => {
    const idle = await query(
      scratch.url,
      `SELECT FROM pg_stat_activity WHERE application_name = 'q2t-migrate' AND query = 'ROLLBACK'`,
    );
    return idle.length > 0;
  });
  await worker.query('COMMIT');
  assert.deepEqual(await waiting, ['0002-alter.sql']);
});

test('a migration that takes two tables in the other order than a worker gives way before anybody is told of a deadlock', async (t) => {
  const scratch = await openScratch(t, {
    '0001-first.sql': 'CREATE TABLE queue.a (); CREATE TABLE queue.b ()',
  });
  const options = { folder: scratch.folder };
  await migrate(scratch.url, options);
  const worker = await inOpenTransaction(t, scratch.url);
  await worker.query('INSERT INTO queue.b DEFAULT VALUES');
  await scratch.write({
    '0002-both.sql': 'ALTER TABLE queue.a ADD COLUMN n int; ALTER TABLE queue.b ADD COLUMN n int',
  });
  const migrating = migrate(scratch.url, options);
  await until('the migration to hold one table and wait for the other', async () => {
    const waiting = await query(
      scratch.url,
      `SELECT FROM pg_locks WHERE relation = 'queue.b'::regclass AND NOT granted`,
    );
    return waiting.length > 0;
  });
  await worker.query('INSERT INTO queue.a DEFAULT VALUES');
  await worker.query('COMMIT');
  assert.deepEqual(await migrating, ['0002-both.sql']);
});

test('an index is built concurrently while a writer holds the table and another process waits to migrate', async (t) => {
  const scratch = await openScratch(t, { '0001-first.sql': 'CREATE TABLE queue.a (n int)' });
  const options = { folder: scratch.folder };
  await migrate(scratch.url, options);
  const writer = await inOpenTransaction(t, scratch.url);
  await writer.query('INSERT INTO queue.a VALUES (1)');
  await scratch.write({
    '0002-index.sql': `-- concurrently
DROP INDEX CONCURRENTLY IF EXISTS queue.a_n;
CREATE INDEX CONCURRENTLY a_n ON queue.a (n);`,
  });
  const both = Promise.all([migrate(scratch.url, options), migrate(scratch.url, options)]);
  await until('the index build to wait for the writer', async () => {
    const rows = await query(
      scratch.url,
      `SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' OR query LIKE '%CREATE INDEX%' AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await writer.query('COMMIT');
  const applied = await both;
  assert.deepEqual(applied.flat(), ['0002-index.sql']);
  const valid = await query(
    scratch.url,
    `SELECT indisvalid FROM pg_index WHERE indexrelid = 'queue.a_n'::regclass`,
  );
  assert.deepEqual(valid, [{ indisvalid: true }]);
});

test('a migration does not wait for ever for a database that accepts the connection and says nothing', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const address = silent.address();
  assert.ok(address !== null && typeof address === 'object');
  const url = `postgres://nobody@127.0.0.1:${address.port}/none`;
  await assert.rejects(migrate(url, { connectTimeoutMs: 100 }), /timeout/);
});
