import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerDeploymentOptions, WorkerOptions } from '@temporalio/worker';
import { agentActivities, localActivities, partnerActivities } from '../activities/index.ts';
import type { ActivityDependencies } from '../activities/index.ts';
import { partnerQueue } from '../activities/partner-queues.ts';
import { PARTNER_NAMES } from '../partners/contract.ts';
import type { PartnerName } from '../partners/contract.ts';
import type { Deployment } from './deployment.ts';
import type { Rates } from './rates.ts';

export interface OrderWorkersOptions extends ActivityDependencies {
  connection: NativeConnection;
  namespace: string;
  /** The orders' own; the partners' are named after it. */
  taskQueue: string;
  rates: Rates;
  workflows: Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle'>;
  stickyTimeoutMs: number;
  /** How many runs a process remembers between their tasks. Default: the SDK's, by the memory there is. */
  maxCachedWorkflows?: number;
  /** The version of a worker deployment that this process is. None: unversioned. */
  deployment?: Deployment;
}

export interface OrderWorkers {
  /** Resolves when all have stopped; rejects when one of them failed, after it has stopped the others. */
  stopped: Promise<void>;
  /** Lets them finish what they are doing. Returns as `stopped` does. */
  stop(): Promise<void>;
}

/** How long to look for ourselves among a queue's pollers. */
const SEEN_WITHIN_MS = 10_000;

/** The server's numbers for the kinds of tasks that a queue holds, and for what it does not know. */
const WORKFLOW_TASKS = 1;
const ACTIVITY_TASKS = 2;
const NOT_FOUND = 5;

/** A call of a model may take a minute, and is paid for: it is let finish when the worker is told to stop. */
const MODEL_GRACE = { shutdownGraceTime: '65s', shutdownForceTime: '75s' } as const;

/**
 * Starts what one process does for purchase orders, and for the buying agent where it is given one: a
 * worker for the workflows, and one for the activities of each partner. Returns when the server has been asked for work on every queue. Throws what
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
  const seen = Promise.all(workers.map((worker) => untilSeen(options.connection, worker)));
  try {
    await Promise.race([stopped, seen]);
  } catch (error) {
    stopAll(workers);
    await stopped.catch(() => undefined);
    throw error;
  }
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
  const activities = activitiesByPartner(options);
  const shared = {
    connection,
    namespace,
    // A call to a partner ends within its own 10 s: let it, before activities are told to stop.
    shutdownGraceTime: '15s',
    shutdownForceTime: '30s',
    // The partners' queues as well: a pinned run's activities go to workers of its own version.
    ...(options.deployment && { workerDeploymentOptions: deploymentOptions(options.deployment) }),
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
      ...(options.maxCachedWorkflows !== undefined && {
        maxCachedWorkflows: options.maxCachedWorkflows,
      }),
    },
    ...PARTNER_NAMES.filter((partner) => partner in activities).map((partner) => ({
      ...shared,
      ...(partner === 'model' ? MODEL_GRACE : {}),
      taskQueue: partnerQueue(taskQueue, partner),
      activities: activities[partner] ?? {},
      // Kept by the server, for all workers of the queue together; the last one that asked is believed.
      maxTaskQueueActivitiesPerSecond: rates[partner],
      // A partner sees eight requests of one order at most.
      maxConcurrentActivityTaskExecutions: 100,
      // Seven queues: half of the SDK's ten each, and still an activity every few milliseconds.
      maxConcurrentActivityTaskPolls: 5,
    })),
  ];
}

function activitiesByPartner(options: OrderWorkersOptions): Partial<Record<PartnerName, object>> {
  const { partners, agent } = options;
  const { supplier, ...others } = partnerActivities(options);
  if (!agent) return { supplier, ...others };
  const { supplier: asks, ...own } = agentActivities({ ...partners, ...agent });
  return { supplier: { ...supplier, ...asks }, ...others, ...own };
}

function deploymentOptions({ name, buildId, versioning }: Deployment): WorkerDeploymentOptions {
  return {
    version: { deploymentName: name, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: versioning === 'pinned' ? 'PINNED' : 'AUTO_UPGRADE',
  };
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
 * Returns when the server has seen the worker ask for work, and has noted its queue among those of its
 * version: until then the version can't be made current. A server that splits its queues may show us a
 * part that another worker is asking: after a while no sight of this one says nothing, and it goes on.
 */
async function untilSeen(connection: NativeConnection, worker: Worker): Promise<void> {
  const { workflowService } = connection;
  const { namespace, taskQueue, identity, enableNonLocalActivities } = worker.options;
  const taskQueueType = enableNonLocalActivities ? ACTIVITY_TASKS : WORKFLOW_TASKS;
  const version = worker.options.workerDeploymentOptions?.version;

  const isPolling = async () => {
    const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType };
    const { pollers } = await workflowService.describeTaskQueue(asked);
    return pollers.some((poller) => poller.identity === identity);
  };
  const isNoted = async () => {
    if (!version) return true;
    const asked = { namespace, deploymentVersion: version };
    try {
      const { versionTaskQueues } = await workflowService.describeWorkerDeploymentVersion(asked);
      return versionTaskQueues.some(({ name }) => name === taskQueue);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  };
  const deadline = Date.now() + SEEN_WITHIN_MS;
  while (worker.getState() === 'RUNNING' && Date.now() < deadline) {
    if ((await isPolling()) && (await isNoted())) return;
    await wait(20);
  }
}

/** Of a version whose first worker has only just asked. */
function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === NOT_FOUND;
}
