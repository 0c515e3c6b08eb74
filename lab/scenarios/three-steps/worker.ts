import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { connectPartners } from '../../../partners/clients/connect.ts';
import { connect } from '../../../queue/connect.ts';
import { consume } from '../../../queue/worker/consume.ts';
import { startWorker } from '../../../queue/worker/start.ts';
import { handle, QUEUE } from './chain.ts';
import { pipelines } from './queue.ts';
import { activitiesWith } from './temporal.ts';

/** A worker of the three steps on the implementation it is told. Prints {"msg":"ready"}. */
export const jobSchema = z.object({
  on: z.enum(['chain', 'queue', 'temporal']),
  databaseUrl: z.string(),
  partnersUrl: z.string(),
  visibilityMs: z.number(),
  temporal: z.object({ address: z.string(), namespace: z.string(), taskQueue: z.string() }),
});
export type WorkerJob = z.infer<typeof jobSchema>;

const HANDS = 8;
const log = pino();
const job = jobSchema.parse(JSON.parse(process.env['Q2T_LAB_JOB'] ?? ''));
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => stopping.abort());
}
const run = { chain: runChain, queue: runQueue, temporal: runTemporal };
await run[job.on]();

async function runChain(): Promise<void> {
  const connected = await connect(
    { url: job.databaseUrl, applicationName: 'three-steps', maxConnections: HANDS + 2 },
    { profile: 'postgres', listen: true, log },
  );
  const { transport, close } = connected;
  const partners = connectPartners({ baseUrl: job.partnersUrl });
  const consuming = consume({
    transport,
    queue: QUEUE,
    concurrency: HANDS,
    visibilityMs: job.visibilityMs,
    waitMs: 5_000,
    handle: (message) => handle(connected, partners, message),
    stop: stopping.signal,
    log,
  });
  log.info('ready');
  await consuming;
  await partners.close();
  await close();
}

async function runQueue(): Promise<void> {
  const { databaseUrl, partnersUrl, visibilityMs } = job;
  const worker = await startWorker({
    databaseUrl,
    partnersUrl,
    log,
    visibilityMs,
    pipelines,
    orders: HANDS,
    lines: 1,
    mails: 1,
    timerEveryMs: 500,
    housekeepingEveryMs: 0,
  });
  log.info('ready');
  await stopped();
  await worker.stop();
}

async function runTemporal(): Promise<void> {
  const { address, namespace, taskQueue } = job.temporal;
  const connection = await NativeConnection.connect({ address });
  const partners = connectPartners({ baseUrl: job.partnersUrl });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./workflow.ts', import.meta.url)),
    activities: activitiesWith(partners),
    maxConcurrentActivityTaskExecutions: HANDS,
    stickyQueueScheduleToStartTimeout: '300ms',
  });
  const running = worker.run();
  log.info('ready');
  await stopped();
  worker.shutdown();
  await running;
  await partners.close();
  await connection.close();
}

function stopped(): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  stopping.signal.addEventListener('abort', resolve);
  return promise;
}
