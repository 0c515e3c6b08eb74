import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { execa } from 'execa';
import pg from 'pg';
import { isolatedEnv } from '../client/isolated-env.mjs';
import { takeBundle } from './bundle-cache.ts';
import { ensureDatabase } from './databases.ts';
import { freePort } from './ports.ts';
import { startPostgres, type Postgres } from './postgres.ts';
import { SupervisedProcess, type PartOptions } from './process.ts';
import { NODE_FLAGS, projectRoot } from './runtime.mjs';
import { registerSearchAttributes } from './search-attributes.ts';
import type { ExternalTemporal } from './options.ts';
import { startTemporalServer, type TemporalServer } from './temporal.ts';

/** The kinds of workers there are, by the name that a stack's options and `addWorker` use. */
export const workerKinds = {
  temporal: { script: 'workers/temporal.ts' },
  queue: { script: 'workers/queue.ts' },
  chain: { script: 'workers/chain.ts' },
} as const satisfies Record<string, { script: string }>;
export type WorkerKind = keyof typeof workerKinds;

const DATABASE = 'q2t';
const CONNECT_LIMIT_MS = 10_000;
/** Everything starts at once, on a machine that may have two cores. */
const READY_LIMIT_MS = 120_000;
/** A worker lets its activities end before it goes: longer than its own limit of 30 s. */
const STOP_LIMIT_MS = 35_000;

/** Our own Postgres with the project's database in it. */
export async function startDatabase(
  port: number | undefined,
  options: PartOptions,
): Promise<{ postgres: Postgres; url: string }> {
  const postgres = await startPostgres({ ...options, ...(port !== undefined && { port }) });
  await ensureDatabase(postgres.urlOf('postgres'), DATABASE);
  return { postgres, url: postgres.urlOf(DATABASE) };
}

/** Throws when somebody's own database can't be used, before workers are started that would only say so in their logs. */
export async function checkDatabase(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    const { host, pathname } = new URL(url);
    throw new Error(`Postgres can't be used at ${host}${pathname}: ${String(error)}`, {
      cause: error,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A Temporal server, ours unless `external` is given, with the search attributes registered. */
export async function startTemporal(
  external: ExternalTemporal | undefined,
  settings: { persistent: boolean; port?: number; uiPort?: number },
  options: PartOptions,
): Promise<{ server: TemporalServer | undefined; target: ExternalTemporal }> {
  const server = external ? undefined : await startTemporalServer({ ...options, ...settings });
  const target = external ?? server;
  if (!target) throw new Error('neither a server nor an address');
  const connection = await Connection.connect({
    ...(external?.options ?? { address: target.address }),
    connectTimeout: CONNECT_LIMIT_MS,
  }).catch((error: unknown) => {
    throw new Error(`Temporal can't be reached at ${target.address}: ${String(error)}`, {
      cause: error,
    });
  });
  try {
    await registerSearchAttributes(connection, target.namespace);
  } finally {
    await connection.close();
  }
  return { server, target };
}

/** The partners, with their state in a file of the data folder. */
export async function startPartners(
  givenPort: number | undefined,
  options: PartOptions,
): Promise<{ partners: SupervisedProcess; url: string }> {
  // A port of our choice and not theirs: they come back on it after they were killed.
  const port = givenPort ?? (await freePort());
  const partners = scriptProcess('partners', 'workers/partners.ts', options, {
    ...isolatedEnv(process.env),
    PARTNERS_PORT: String(port),
    PARTNERS_STATE_FILE: join(options.dataDir, 'partners.jsonl'),
  });
  await partners.start();
  return { partners, url: `http://127.0.0.1:${port}` };
}

/** Bundles the workflows once for all workers, each of which would need seconds for its own. Returns the file. */
export async function bundleWorkflows(dataDir: string): Promise<string> {
  const file = join(dataDir, 'workflows.js');
  await takeBundle(file, (target) => makeBundle(target));
  return file;
}

/** Bundles the workflows of `entry` into `file`, those of `workflows/` when there is none. */
export async function makeBundle(file: string, entry?: string): Promise<void> {
  const script = join(projectRoot, 'workers/build.ts');
  const args = [...NODE_FLAGS, script, file, ...(entry === undefined ? [] : [entry])];
  const env = isolatedEnv(process.env);
  const result = await execa(process.execPath, args, { env, extendEnv: false, reject: false });
  if (result.failed) throw new Error(`the workflows could not be bundled\n${result.stderr}`);
}

/** One of the project's own scripts as a process that prints a ready line; not started yet. */
export function scriptProcess(
  name: string,
  script: string,
  { dataDir, ...options }: PartOptions,
  env: NodeJS.ProcessEnv,
): SupervisedProcess {
  return new SupervisedProcess({
    ...options,
    name,
    file: process.execPath,
    args: [
      ...NODE_FLAGS,
      `--import=${join(projectRoot, 'stack/keep-compiled.mjs')}`,
      join(projectRoot, script),
    ],
    env,
    cwd: projectRoot,
    logFile: join(dataDir, 'logs', `${name}.log`),
    pidFile: join(dataDir, 'run', `${name}.json`),
    readiness: { kind: 'line' },
    readyLimitMs: READY_LIMIT_MS,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
  });
}
