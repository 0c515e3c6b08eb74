import { writeFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Worker as Thread } from 'node:worker_threads';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';

/**
 * A worker for workflow tasks only, with a cache of its own size, as a process whose memory can be read.
 * Prints {"msg":"ready"} with the size of its cache. On SIGUSR2 it collects its garbage and writes to
 * HEAP_FILE how many bytes are in use on the heaps of its threads.
 */
const { TEMPORAL_ADDRESS, TASK_QUEUE, BUNDLE, CACHE, REUSE_CONTEXT, HEAP_FILE, METRICS } = z
  .object({
    TEMPORAL_ADDRESS: z.string(),
    TASK_QUEUE: z.string(),
    BUNDLE: z.string(),
    CACHE: z.coerce.number().int().nonnegative().optional(),
    REUSE_CONTEXT: z.stringbool().default(true),
    HEAP_FILE: z.string(),
    /** host:port for the SDK's own metrics. */
    METRICS: z.string(),
  })
  .parse(process.env);

/** Where the SDK runs workflows: threads, with heaps of their own. */
const threads: Thread[] = [];
process.on('worker', (thread: Thread) => threads.push(thread));
process.on('SIGUSR2', () => void writeHeap());

Runtime.install({
  shutdownSignals: ['SIGTERM'],
  telemetryOptions: { metrics: { prometheus: { bindAddress: METRICS } } },
});
const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: { codePath: BUNDLE },
  maxConcurrentWorkflowTaskExecutions: 40,
  stickyQueueScheduleToStartTimeout: '300ms',
  reuseV8Context: REUSE_CONTEXT,
  ...(CACHE !== undefined && { maxCachedWorkflows: CACHE }),
});
pino().info({ maxCachedWorkflows: worker.options.maxCachedWorkflows }, 'ready');
await worker.run();
await connection.close();

async function writeHeap(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  let bytes = process.memoryUsage().heapUsed;
  for (const thread of threads) {
    // A thread can't be told to collect; before a snapshot it does.
    const snapshot = await thread.getHeapSnapshot();
    snapshot.destroy();
    bytes += (await thread.getHeapStatistics()).used_heap_size;
  }
  await writeFile(HEAP_FILE, String(bytes));
}
