import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { execa } from 'execa';
import pg from 'pg';
import { createDatabase, ensureDatabase } from '../../stack/databases.ts';
import { identityOf, isAlive } from '../../stack/lock.mjs';
import { startPostgres, type Postgres } from '../../stack/postgres.ts';
import { tempDir } from '../unit/stack/temp-dir.ts';

// One cluster for the file: making one takes the seconds that everything else does not.
const cleanups: (() => Promise<void> | void)[] = [];
let dataDir: string;
let postgres: Postgres;

before(async () => {
  // Closed to everybody but its owner, as a checkout under /root is.
  dataDir = await tempDir({
    after: (cleanup) => void cleanups.push(cleanup as () => Promise<void>),
  });
  postgres = await startPostgres({ dataDir });
});

after(async () => {
  await postgres.process.kill();
  for (const cleanup of cleanups) await cleanup();
});

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is killed under it says so in the query's own failure.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

test('what was committed is there after SIGKILL and a restart on the same port', async () => {
  const url = postgres.urlOf('postgres');
  await query(url, 'CREATE TABLE kept (id int)');
  await query(url, 'INSERT INTO kept VALUES (7)');
  const { port } = postgres;
  await postgres.process.kill();
  await assert.rejects(query(url, 'SELECT 1'));
  await postgres.process.start();
  assert.equal(postgres.port, port);
  assert.deepEqual(await query(url, 'SELECT id FROM kept'), [{ id: 7 }]);
});

test('durability is at its defaults, it listens on loopback alone, and a password is needed', async () => {
  const url = postgres.urlOf('postgres');
  const settings = ['fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses'];
  const shown = await Promise.all(settings.map((name) => query(url, `SHOW ${name}`)));
  assert.deepEqual(
    shown.flatMap((rows) => rows.flatMap((row) => Object.values<unknown>(row))),
    ['on', 'on', 'on', '127.0.0.1'],
  );
  const wrong = new URL(url);
  wrong.password = 'guess';
  await assert.rejects(query(wrong.href, 'SELECT 1'), /password authentication failed/);
  const another = await startPostgres({ dataDir: join(dataDir, 'second') });
  await another.process.stop();
  assert.notEqual(new URL(another.urlOf('x')).password, new URL(url).password);
});

test('a database is made once, cloned from a template, and dropped with its sessions', async () => {
  const admin = postgres.urlOf('postgres');
  await ensureDatabase(admin, 'template_of_test');
  await ensureDatabase(admin, 'template_of_test');
  await query(postgres.urlOf('template_of_test'), 'CREATE TABLE made AS SELECT 1 AS one');
  const clones = await Promise.all(
    [1, 2, 3].map(() => createDatabase(admin, { template: 'template_of_test' })),
  );
  assert.equal(new Set(clones.map(({ name }) => name)).size, 3);
  for (const { url } of clones)
    assert.deepEqual(await query(url, 'SELECT * FROM made'), [{ one: 1 }]);
  const [first] = clones;
  assert(first);
  const session = new pg.Client({ connectionString: first.url });
  session.on('error', () => undefined);
  await session.connect();
  for (const clone of clones) await clone.drop();
  await assert.rejects(query(first.url, 'SELECT 1'), /does not exist/);
});

test('a clone waits for the last session of its template to end', async () => {
  const admin = postgres.urlOf('postgres');
  const template = await createDatabase(admin);
  const session = new pg.Client({ connectionString: template.url });
  await session.connect();
  const clone = createDatabase(admin, { template: template.name });
  // Its statement has been refused at least once before the session ends.
  const refused = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'CREATE DATABASE%TEMPLATE%'`;
  while ((await query<{ n: number }>(admin, refused))[0]?.n === 0);
  await session.end();
  await (await clone).drop();
});

/** Starts the cluster from a parent that can't tie its children to itself, and kills that parent. */
async function leaveBehind(): Promise<number> {
  const bin = join(dataDir, 'bin');
  await rm(bin, { recursive: true, force: true });
  await mkdir(bin);
  // Only what is needed: without `setpriv` there is no death signal, as on a machine that is not Linux.
  const { stdout: id } = await execa('sh', ['-c', 'command -v id']);
  await symlink(id, join(bin, 'id'));
  await chmod(dataDir, 0o755);
  const module = new URL('../../stack/postgres.ts', import.meta.url).href;
  const code = `const { startPostgres } = await import(${JSON.stringify(module)});
    const { process: server } = await startPostgres({ dataDir: process.argv[1] });
    process.stdout.write(String(server.pid)); setInterval(() => {}, 1e6);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code, dataDir], {
    env: { PATH: bin },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer]; // an emitter's arguments have no types
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  return Number(printed.toString());
}

for (const memory of ['its pid file', 'nothing but its own postmaster.pid']) {
  test(`a Postgres that a killed parent left behind, with ${memory}, does not stop the next start`, async () => {
    await postgres.process.stop();
    const pid = await leaveBehind();
    const identity = identityOf(pid);
    assert(isAlive(pid, identity), 'it is left behind');
    if (memory !== 'its pid file') await rm(join(dataDir, 'run', 'postgres.json'));
    postgres = await startPostgres({ dataDir });
    assert.equal(isAlive(pid, identity), false);
    assert.deepEqual(await query(postgres.urlOf('postgres'), 'SELECT id FROM kept'), [{ id: 7 }]);
  });
}

test('a start that fails says so with the end of the log', async () => {
  await postgres.process.stop();
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const address = squatter.address();
  assert(typeof address === 'object' && address !== null);
  await assert.rejects(
    startPostgres({ dataDir, port: address.port }),
    /postgres did not start: it ended with code 1\n.*could not bind.*Address already in use/s,
  );
  squatter.close();
  postgres = await startPostgres({ dataDir });
});

test('an initialisation that was cut short is begun anew', async (t) => {
  const dir = await tempDir(t);
  await mkdir(join(dir, 'postgres.draft', 'base'), { recursive: true });
  const fresh = await startPostgres({ dataDir: dir });
  await fresh.process.stop();
  assert.match(await readFile(join(dir, 'postgres', 'PG_VERSION'), 'utf8'), /^18/);
});
