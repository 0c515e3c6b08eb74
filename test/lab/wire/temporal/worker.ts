import { NativeConnection, Worker } from '@temporalio/worker';
import { createEffects } from './activities.ts';

export interface WorkerSettings {
  address: string;
  taskQueue: string;
  identity: string;
  bundle: string;
  effects: string;
  stickyMs: number;
}

/** Connects and polls. Returns how to end it in order, and when it has ended. */
export async function startWorker({
  address,
  taskQueue,
  identity,
  bundle,
  effects,
  stickyMs,
}: WorkerSettings): Promise<{ ended: Promise<void>; stop: () => Promise<void> }> {
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    identity,
    workflowBundle: { codePath: bundle },
    activities: createEffects(effects),
    stickyQueueScheduleToStartTimeout: stickyMs,
    // As few open polls as can be: each may swallow a task when its worker falls silent.
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
  });
  const ended = worker.run().then(() => connection.close());
  return {
    ended,
    async stop() {
      worker.shutdown();
      await ended;
    },
  };
}
