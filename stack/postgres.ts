import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import { isolatedEnv } from '../client/isolated-env.mjs';
import { runToEnd, type User } from './launch.ts';
import { freePort } from './ports.ts';
import { postgresBinaries, postgresUser } from './postgres-binaries.ts';
import { stopForeignPostmaster } from './postmaster.ts';
import { SupervisedProcess, type PartOptions } from './process.ts';

export interface PostgresOptions extends PartOptions {
  /** Default: a free one. */
  port?: number;
}

/** A Postgres of our own on loopback, with its defaults for durability. */
export interface Postgres {
  process: SupervisedProcess;
  port: number;
  /** Connection URL of a database of this cluster. Holds the password: mask it before it is shown. */
  urlOf(database: string): string;
}

const START_LIMIT_MS = 60_000;
const settingsSchema = z.object({ password: z.string() });

/** Initialises the cluster when there is none and starts it. Throws with the end of the log when it does not come up. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { dataDir, port = await freePort(), ...part } = options;
  const cluster = join(dataDir, 'postgres');
  await mkdir(dataDir, { recursive: true });
  const binaries = await postgresBinaries();
  const user = await postgresUser([binaries.postgres, cluster]);
  const password = await ensureCluster(cluster, binaries.initdb, user);
  await stopForeignPostmaster(cluster);
  const urlOf = (database: string) =>
    `postgresql://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const server = new SupervisedProcess({
    ...part,
    name: 'postgres',
    file: binaries.postgres,
    // No socket file: its path would be long, and one more thing to leave behind.
    args: [
      ...['-D', cluster, '-p', String(port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      ...['-c', 'max_connections=200'],
    ],
    env: isolatedEnv(process.env),
    cwd: dataDir,
    ...(user && { user }),
    logFile: join(dataDir, 'logs', 'postgres.log'),
    pidFile: join(dataDir, 'run', 'postgres.json'),
    readiness: { kind: 'probe', probe: () => answersTo(urlOf('postgres')) },
    readyLimitMs: START_LIMIT_MS,
    // Fast shutdown: ends sessions, writes everything; SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
  });
  await server.start();
  return { process: server, port, urlOf };
}

/** Returns the password of the cluster. */
async function ensureCluster(
  cluster: string,
  initdb: string,
  user: User | undefined,
): Promise<string> {
  const settingsFile = `${cluster}.json`;
  if (existsSync(cluster)) {
    const settings = await readFile(settingsFile, 'utf8').catch(() => {
      throw new Error(`${cluster} has data but its password file ${settingsFile} is gone`);
    });
    return settingsSchema.parse(JSON.parse(settings)).password;
  }
  const password = randomBytes(24).toString('base64url');
  await writeFile(settingsFile, JSON.stringify({ password }), { mode: 0o600 });
  // Made aside and renamed: an interrupted start leaves no half cluster.
  const draft = `${cluster}.draft`;
  const passwordFile = `${cluster}.password`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user) await Promise.all([draft, passwordFile].map((p) => chown(p, user.uid, user.gid)));
    await runToEnd({
      file: initdb,
      args: [
        ...['--pgdata', draft, '--username', 'postgres', '--pwfile', passwordFile],
        ...['--auth', 'scram-sha-256', '--no-instructions'],
        // Built in, so that sorting does not depend on what the machine has installed.
        ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin'],
        ...['--builtin-locale', 'C.UTF-8'],
      ],
      env: isolatedEnv(process.env),
      cwd: dirname(cluster),
      ...(user && { user }),
    });
    await rename(draft, cluster);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
  return password;
}

async function answersTo(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A connection that breaks between the query and its end must not become an uncaught event.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}
