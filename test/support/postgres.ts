import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import { migrate, readMigrations } from '../../queue/migrations/migrate.ts';
import { createDatabase, type Database } from '../../stack/databases.ts';

let own: Promise<string> | undefined;
let stopOwn: (() => Promise<void>) | undefined;

// Registered here and not where it starts: there, `after` would belong to whichever suite came first.
after(() => stopOwn?.());

/** The address of the run's Postgres, or of one of this process's own when there is no run around it. */
export function postgresUrl(): Promise<string> {
  const shared = process.env['Q2T_TEST_DATABASE_URL'];
  if (shared !== undefined) return Promise.resolve(shared);
  own ??= startOwn();
  return own;
}

/** A migrated database of the caller's own, cloned from a template in some 50 ms. Drop it after. */
export async function freshDatabase(): Promise<Database> {
  const url = await postgresUrl();
  template ??= createTemplate(url);
  return createDatabase(url, { template: await template });
}

/** An empty one, for tests of the migrations themselves. */
export async function emptyDatabase(): Promise<Database> {
  return createDatabase(await postgresUrl());
}

let template: Promise<string> | undefined;

/**
 * Test files run in several processes at once and share the template: the first one makes it. Its
 * name carries what the migrations are, so that a server that is used again never serves an old one.
 */
async function createTemplate(url: string): Promise<string> {
  const checksums = (await readMigrations()).map((migration) => migration.checksum);
  const digest = createHash('sha256').update(checksums.join()).digest('hex').slice(0, 12);
  const name = `q2t_template_${digest}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query('SELECT pg_advisory_lock($1)', [0x713274]);
    const { rows } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rows.length > 0) return name;
    await admin.query(`DROP DATABASE IF EXISTS ${name}_draft`);
    const draft = await createDatabase(url, { name: `${name}_draft` });
    await migrate(draft.url);
    await admin.query(`ALTER DATABASE ${name}_draft RENAME TO ${name}`);
    return name;
  } finally {
    await admin.end();
  }
}

async function startOwn(): Promise<string> {
  // Loaded only here: most files have the run's server.
  const { startPostgres } = await import('../../stack/postgres.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'q2t-test-'));
  const postgres = await startPostgres({ dataDir });
  stopOwn = async () => {
    await postgres.process.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return postgres.urlOf('postgres');
}
