import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createEffects } from './activities.ts';

/** What a worker is told on its command line, as JSON. */
export interface WorkerSettings {
  address: string;
  taskQueue: string;
  identity: string;
  bundle: string;
  effects: string;
  stickyMs: number;
}

const { address, taskQueue, identity, bundle, effects, stickyMs } = JSON.parse(
  process.argv[2] ?? '{}',
) as WorkerSettings; // Written by wired.ts.

Runtime.install({ logger: new DefaultLogger('ERROR') });
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
process.stdout.write('ready\n');
await worker.run();
await connection.close();
