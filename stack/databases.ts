import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const TEMPLATE_BUSY = '55006';
const DUPLICATE_DATABASE = '42P04';
const TEMPLATE_LIMIT_MS = 10_000;
const TEMPLATE_POLL_MS = 50;

export interface Database {
  name: string;
  url: string;
  /** Ends its sessions and deletes it. */
  drop(): Promise<void>;
}

/**
 * Makes a database on the server of `adminUrl`, under a name of its own unless one is given, as a copy
 * of `template` when one is named. A copy waits up to 10 s for the template's last session to end.
 */
export async function createDatabase(
  adminUrl: string,
  {
    name = `q2t_${randomBytes(6).toString('hex')}`,
    template,
  }: { name?: string; template?: string } = {},
): Promise<Database> {
  const from = template === undefined ? '' : ` TEMPLATE ${pg.escapeIdentifier(template)}`;
  const statement = `CREATE DATABASE ${pg.escapeIdentifier(name)}${from}`;
  const deadline = Date.now() + TEMPLATE_LIMIT_MS;
  await withClient(adminUrl, async (client) => {
    for (;;) {
      try {
        await client.query(statement);
        return;
      } catch (error) {
        if (codeOf(error) !== TEMPLATE_BUSY || Date.now() > deadline) throw error;
        await sleep(TEMPLATE_POLL_MS);
      }
    }
  });
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return {
    name,
    url: url.href,
    drop: () =>
      withClient(adminUrl, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
      }),
  };
}

/** The database of that name, made when it is not there yet. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  try {
    await createDatabase(adminUrl, { name });
  } catch (error) {
    if (codeOf(error) !== DUPLICATE_DATABASE) throw error;
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
