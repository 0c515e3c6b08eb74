import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isBehindPooler } from '../transport/pooler.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** "q2t" in ASCII; any number will do as long as every process uses the same. */
const ADVISORY_LOCK = 0x713274;

export interface MigrateOptions {
  /** Where the numbered files are; a test brings its own. */
  folder?: string;
  /**
   * How long a statement may wait for a lock that a running worker holds. Two such waits have to fit
   * into Postgres's deadlock_timeout (1 s): so where a file takes two tables in the other order than
   * a worker does, it is the migration that gives way, and no worker sees a deadlock.
   */
  lockTimeoutMs?: number;
  /** How long to keep trying when a lock was not to be had, and to wait for another migrating process. */
  patienceMs?: number;
  /** How long to wait for a database that accepts the connection and says nothing. Default 10 s. */
  connectTimeoutMs?: number;
}

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
  concurrently: boolean;
}

/**
 * Brings the database at `url` up to date. Safe to run from several processes at once: one does the
 * work, the others wait for it. Through a pooler in transaction mode it only looks: what it would hold
 * on to, a lock and a timeout, belongs to a session, and there the session is somebody else's at once.
 *
 * Returns the names of the files that this call applied, in order; none when there was nothing to do.
 * Throws when an applied file has been edited since, when a lock was not to be had in time, when the
 * database does not answer in time, or when there is something to do behind a pooler.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = FOLDER, lockTimeoutMs = 400, patienceMs = 60_000 } = options;
  const migrations = await readMigrations(folder);
  const client = new pg.Client({
    connectionString: url,
    application_name: 'q2t-migrate',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
  });
  // One that dies while nothing runs on it would end the process; the next statement fails.
  client.on('error', () => undefined);
  await client.connect();
  try {
    if (await isBehindPooler(client)) return await onlyLook(client, migrations);
    const deadline = performance.now() + patienceMs;
    await lockOutOthers(client, deadline);
    await createBookkeeping(client);
    const fresh = freshOf(migrations, await readApplied(client));
    for (const migration of fresh) await apply(client, migration, lockTimeoutMs, deadline);
    return fresh.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

async function onlyLook(client: pg.Client, migrations: Migration[]): Promise<[]> {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('queue.migration') IS NOT NULL AS there`,
  );
  const applied = rows[0]?.there ? await readApplied(client) : new Map<string, string>();
  const [first] = freshOf(migrations, applied);
  if (!first) return [];
  throw new Error(
    `${first.name} is not applied, and this connection goes through a pooler: migrate over a direct one first`,
  );
}

/** The numbered files, in the order in which they are applied. */
export async function readMigrations(folder = FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const odd = names.find((name) => !/^\d{4}-[a-z0-9-]+\.sql$/.test(name));
  if (odd !== undefined) throw new Error(`${odd}: a migration is named 0001-what-it-does.sql`);
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(`${folder}/${name}`, 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name, sql, checksum, concurrently: sql.startsWith('-- concurrently') };
    }),
  );
}

/**
 * Tries again and again instead of waiting inside pg_advisory_lock: a session that waits in there
 * holds a snapshot, and CREATE INDEX CONCURRENTLY of the process that has the lock would wait for
 * that snapshot: a deadlock.
 */
async function lockOutOthers(client: pg.Client, deadline: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS locked',
      [ADVISORY_LOCK],
    );
    if (rows[0]?.locked) return;
    if (performance.now() > deadline)
      throw new Error('another process has been migrating too long');
    await delay(50);
  }
}

async function createBookkeeping(client: pg.Client): Promise<void> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS queue;
    CREATE TABLE IF NOT EXISTS queue.migration (
      name text PRIMARY KEY,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT statement_timestamp()
    )`);
}

async function readApplied(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM queue.migration',
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/**
 * The files that are not applied yet. A database that knows more files than this code is fine: old
 * workers run on while a new version migrates.
 */
function freshOf(migrations: Migration[], applied: Map<string, string>): Migration[] {
  for (const { name, checksum } of migrations) {
    if (applied.has(name) && applied.get(name) !== checksum) {
      throw new Error(`${name} was edited after it had been applied: put the change in a new file`);
    }
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

async function apply(
  client: pg.Client,
  migration: Migration,
  lockTimeoutMs: number,
  deadline: number,
): Promise<void> {
  for (;;) {
    // A concurrent build lets writers through while it waits, so it may wait as long as it likes.
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const timeoutMs = migration.concurrently ? leftMs : lockTimeoutMs;
    await client.query("SELECT set_config('lock_timeout', $1, false)", [String(timeoutMs)]);
    try {
      await (migration.concurrently
        ? applyOutside(client, migration)
        : applyInside(client, migration));
      return;
    } catch (error) {
      // While a DDL statement queues for its lock, every reader queues behind it. So it gives up
      // soon, lets the workers through, and tries again.
      if (!isLockTimeout(error) || performance.now() > deadline) throw nameFile(migration, error);
      await delay(100);
    }
  }
}

async function applyInside(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await record(client, name, checksum);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/**
 * Statement by statement, each on its own: CONCURRENTLY refuses to run in a transaction, and a
 * failed one leaves an invalid index behind. So such a file must be repeatable: it drops what it
 * creates first.
 */
async function applyOutside(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const statements = sql
    .split(/;\s*$/m)
    .filter((part) => part.replace(/--.*$/gm, '').trim() !== '');
  for (const statement of statements) await client.query(statement);
  await record(client, name, checksum);
}

async function record(client: pg.Client, name: string, checksum: string): Promise<void> {
  await client.query('INSERT INTO queue.migration (name, checksum) VALUES ($1, $2)', [
    name,
    checksum,
  ]);
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

function nameFile({ name }: Migration, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`migration ${name} failed: ${message}`, { cause: error });
}
