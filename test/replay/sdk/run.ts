import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';

/**
 * Runs the workflows beside it to their end, on the SDK that is installed where it lies: record.ts copies
 * it there. Usage: node run.ts ADDRESS
 */
const [address = ''] = process.argv.slice(2);
const types = ['traveller', 'careful', 'careless'];

const connection = await Connection.connect({ address });
const native = await NativeConnection.connect({ address });
const client = new Client({ connection });
const queue = `sdk-${process.pid}`;
const activities = { ask: async () => 'answer', check: async () => true };
const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));

const workflows = await Worker.create({
  connection: native,
  taskQueue: queue,
  workflowsPath,
  activities,
  // Else the server would keep its runs for it when it is gone.
  maxCachedWorkflows: 0,
  enableNonLocalActivities: false,
});
const running = workflows.run();
for (const type of types) {
  const handle = await client.workflow.start(type, { taskQueue: queue, workflowId: `sdk/${type}` });
  if (type === 'traveller') await handle.executeUpdate('answer', { args: ['yes'] });
  await until(async () => (await pendingActivities(handle)) > 0);
}
workflows.shutdown();
await running;

// With no worker for workflows around, the signal and the answer wait for one and the same task.
const answering = await Worker.create({ connection: native, taskQueue: queue, activities });
const answers = answering.run();
for (const type of types) {
  const handle = client.workflow.getHandle(`sdk/${type}`);
  await handle.signal('go');
  await until(async () => (await pendingActivities(handle)) === 0);
}
const again = await Worker.create({
  connection: native,
  taskQueue: queue,
  workflowsPath,
  activities,
  enableNonLocalActivities: false,
});
await again.runUntil(async () => {
  for (const type of types) await client.workflow.getHandle(`sdk/${type}`).result();
});
answering.shutdown();
await answers;
await connection.close();
await native.close();

async function pendingActivities(handle: WorkflowHandle): Promise<number> {
  return (await handle.describe()).raw.pendingActivities?.length ?? 0;
}

async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('not within a minute');
    await wait(20);
  }
}
