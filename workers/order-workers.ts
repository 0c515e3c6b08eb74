import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { localActivities, partnerActivities } from '../activities/index.ts';
import type { ActivityDependencies } from '../activities/index.ts';
import { partnerQueue } from '../activities/partner-queues.ts';
import { PARTNER_NAMES } from '../partners/contract.ts';
import type { Rates } from './rates.ts';

export interface OrderWorkersOptions extends ActivityDependencies {
  connection: NativeConnection;
  namespace: string;
  /** The orders' own; the partners' are named after it. */
  taskQueue: string;
  rates: Rates;
  workflows: Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle'>;
  stickyTimeoutMs: number;
}

export interface OrderWorkers {
  /** Resolves when all have stopped; rejects when one of them failed, after it has stopped the others. */
  stopped: Promise<void>;
  /** Lets them finish what they are doing. Returns as `stopped` does. */
  stop(): Promise<void>;
}

/** How long to look for ourselves among a queue's pollers. */
const SEEN_WITHIN_MS = 10_000;

/** The server's numbers for the kinds of tasks that a queue holds. */
const WORKFLOW_TASKS = 1;
const ACTIVITY_TASKS = 2;

/**
 * Starts what one process does for purchase orders: a worker for the workflows, and one for the
 * activities of each partner. Returns when the server has been asked for work on every queue. Throws what
 * the SDK throws when the server can't be reached or the namespace isn't there.
 */
export async function startOrderWorkers(options: OrderWorkersOptions): Promise<OrderWorkers> {
  const workers: Worker[] = [];
  try {
    for (const each of workerOptions(options)) workers.push(await Worker.create(each));
  } catch (error) {
    // One that was never run keeps its hold on the connection.
    const abandoned = runTogether(workers);
    stopAll(workers);
    await abandoned;
    throw error;
  }
  const stopped = runTogether(workers);
  await Promise.race([
    stopped,
    Promise.all(workers.map((worker) => untilSeen(options.connection, worker))),
  ]);
  return {
    stopped,
    stop: () => {
      stopAll(workers);
      return stopped;
    },
  };
}

function workerOptions(options: OrderWorkersOptions): WorkerOptions[] {
  const { connection, namespace, taskQueue, rates, workflows, stickyTimeoutMs } = options;
  const activities = partnerActivities(options);
  const shared = {
    connection,
    namespace,
    // A call to a partner ends within its own 10 s: let it, before activities are told to stop.
    shutdownGraceTime: '15s',
    shutdownForceTime: '30s',
  } as const;
  return [
    {
      ...shared,
      ...workflows,
      taskQueue,
      activities: localActivities,
      enableNonLocalActivities: false,
      // Enough for a hundred orders at once.
      maxConcurrentWorkflowTaskExecutions: 40,
      stickyQueueScheduleToStartTimeout: stickyTimeoutMs,
    },
    ...PARTNER_NAMES.map((partner) => ({
      ...shared,
      taskQueue: partnerQueue(taskQueue, partner),
      activities: activities[partner],
      // Kept by the server, for all workers of the queue together; the last one that asked is believed.
      maxTaskQueueActivitiesPerSecond: rates[partner],
      // A partner sees eight requests of one order at most.
      maxConcurrentActivityTaskExecutions: 100,
      // Five queues: half of the SDK's ten each, and still an activity every few milliseconds.
      maxConcurrentActivityTaskPolls: 5,
    })),
  ];
}

async function runTogether(workers: Worker[]): Promise<void> {
  const ends = await Promise.allSettled(
    workers.map((worker) => worker.run().finally(() => stopAll(workers))),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function stopAll(workers: Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

/**
 * Returns when the server has seen the worker ask for work. A server that splits its queues may show us a
 * part that another worker is asking: after a while no sight of this one says nothing, and it goes on.
 */
async function untilSeen(connection: NativeConnection, worker: Worker): Promise<void> {
  const { namespace, taskQueue, identity, enableNonLocalActivities } = worker.options;
  const asked = {
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: enableNonLocalActivities ? ACTIVITY_TASKS : WORKFLOW_TASKS,
  };
  const deadline = Date.now() + SEEN_WITHIN_MS;
  while (worker.getState() === 'RUNNING' && Date.now() < deadline) {
    const { pollers } = await connection.workflowService.describeTaskQueue(asked);
    if (pollers?.some((poller) => poller.identity === identity)) return;
    await wait(20);
  }
}
