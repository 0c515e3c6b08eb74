import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';

/**
 * A worker for workflow tasks only, with a cache of its own size, as a process whose memory can be read.
 * Prints {"msg":"ready"} with the size of its cache.
 */
const { TEMPORAL_ADDRESS, TASK_QUEUE, BUNDLE, CACHE } = z
  .object({
    TEMPORAL_ADDRESS: z.string(),
    TASK_QUEUE: z.string(),
    BUNDLE: z.string(),
    CACHE: z.coerce.number().int().nonnegative().optional(),
  })
  .parse(process.env);

Runtime.install({ shutdownSignals: ['SIGTERM'] });
const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: { codePath: BUNDLE },
  maxConcurrentWorkflowTaskExecutions: 40,
  stickyQueueScheduleToStartTimeout: '300ms',
  ...(CACHE !== undefined && { maxCachedWorkflows: CACHE }),
});
pino().info({ maxCachedWorkflows: worker.options.maxCachedWorkflows }, 'ready');
await worker.run();
await connection.close();
