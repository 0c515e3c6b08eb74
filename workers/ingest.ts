import { loadClientConnectConfig } from '@temporalio/envconfig';
import { pino } from 'pino';
import { z } from 'zod';
import { openTemporal } from '../client/pipelines/temporal.ts';
import type { Pipeline } from '../core/contract.ts';
import { connect } from '../queue/connect.ts';
import { startAccepting } from '../queue/ingest/accept.ts';
import { forward } from '../queue/ingest/forward.ts';
import { migrate } from '../queue/migrations/migrate.ts';
import { openQueue } from '../queue/open.ts';
import { PROFILE_NAMES } from '../queue/transport/limits.ts';
import { readSettings } from './settings.ts';

/**
 * A queue in front of what remembers runs: accepts orders over HTTP as fast as they can be made durable,
 * and hands them on at its own pace. Q2T_INGEST_INTO is `temporal` (TEMPORAL_ADDRESS and the rest of the
 * SDK's configuration) or `queue`. Prints {"msg":"ready","url":…}; SIGTERM and SIGINT stop it.
 */
const environment = z.object({
  DATABASE_URL: z.string().min(1),
  Q2T_INGEST_INTO: z.enum(['queue', 'temporal']),
  Q2T_INGEST_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  Q2T_INGEST_HOST: z.string().min(1).default('127.0.0.1'),
  /** Orders handed on at the same time. */
  Q2T_INGEST_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(16),
  Q2T_TRANSPORT_PROFILE: z.enum(PROFILE_NAMES).default('postgres'),
  Q2T_TASK_QUEUE: z.string().min(1).default('orders'),
  Q2T_VISIBILITY_MS: z.coerce.number().int().min(1).default(30_000),
});

const log = pino();
const settings = readSettings(environment, log);

await migrate(settings.DATABASE_URL);
const { pool, transport, close } = await connect(
  { url: settings.DATABASE_URL, applicationName: 'q2t-ingest', maxConnections: 10 },
  { profile: settings.Q2T_TRANSPORT_PROFILE, listen: true, log },
);
const pipeline = await open();
const stopping = new AbortController();
const forwarding = forward({
  transport,
  pipeline,
  concurrency: settings.Q2T_INGEST_CONCURRENCY,
  visibilityMs: settings.Q2T_VISIBILITY_MS,
  stop: stopping.signal,
  log,
});
const { Q2T_INGEST_HOST: host, Q2T_INGEST_PORT: port } = settings;
const accepting = await startAccepting({ pool, transport, host, port, log });
log.info({ url: accepting.url, into: settings.Q2T_INGEST_INTO }, 'ready');

async function stop(): Promise<void> {
  await accepting.close();
  stopping.abort();
  await forwarding;
  await pipeline.close();
  await close();
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void stop().then(() => log.info('stopped')));
}

function open(): Promise<Pipeline> {
  const { DATABASE_URL: databaseUrl, Q2T_INGEST_INTO: into, Q2T_TASK_QUEUE: taskQueue } = settings;
  if (into === 'queue') return openQueue({ databaseUrl });
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  return openTemporal({ connection: connectionOptions, namespace, taskQueue });
}
