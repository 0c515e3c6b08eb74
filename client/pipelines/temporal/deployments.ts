import { isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { UNVERSIONED } from '../../../core/versions.ts';
import type { Rollout, VersionWorker } from '../../../core/versions.ts';
import { isoOf } from './description.ts';

/** A worker has asked again by then: a poll ends after 60 s. The server remembers pollers for five minutes. */
const LIVE_WITHIN_MS = 70_000;

/** The server's numbers for the tasks of workflows, for a version's status and for workers that have one. */
const WORKFLOW_TASKS = 1;
const DRAINAGE: ReadonlyMap<number, 'draining' | 'drained'> = new Map([
  [4, 'draining'],
  [5, 'drained'],
]);
const VERSIONED = 2;

/** gRPC's number. */
export const NOT_FOUND = 5;

export interface Place {
  client: Client;
  namespace: string;
  taskQueue: string;
}

/** A version as the server keeps it. */
export interface ServerVersion {
  /** `orders:1.4.0`. */
  version: string;
  deployment: string;
  buildId: string;
  drainage: 'draining' | 'drained' | undefined;
  since: string | undefined;
}

export interface Deployments {
  versions: ServerVersion[];
  /** Where the task queue's tasks go: `unversioned` or the name of a version. */
  routing: Rollout;
  workers: Map<string, VersionWorker[]>;
  changed: { by: string; at?: string } | undefined;
}

type WorkflowService = Client['workflowService'];
type Described = Awaited<ReturnType<WorkflowService['describeWorkerDeployment']>>;
type Listed = Awaited<
  ReturnType<WorkflowService['listWorkerDeployments']>
>['workerDeployments'][number];
type Info = NonNullable<Described['workerDeploymentInfo']>;
type Summary = NonNullable<Info['versionSummaries']>[number];
type TaskQueueInfo = Awaited<ReturnType<WorkflowService['describeTaskQueue']>>;

/** Everything that the server knows of the versions whose workers ask for work of our task queue. */
export async function readDeployments(place: Place, now = Date.now()): Promise<Deployments> {
  const queue = await describeQueue(place);
  const infos = await deploymentsOf(place, queue);
  return {
    versions: infos.flatMap(({ versionSummaries }) => (versionSummaries ?? []).flatMap(asVersion)),
    routing: routingOf(queue),
    workers: workersOf(queue, now),
    changed: lastChange(infos),
  };
}

export async function readRouting(place: Place): Promise<Rollout> {
  return routingOf(await describeQueue(place));
}

/** `orders:1.4.0`, as the server writes it. */
export function nameOf(
  version: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): string {
  return version?.deploymentName ? `${version.deploymentName}:${version.buildId}` : UNVERSIONED;
}

function describeQueue({ client, namespace, taskQueue }: Place): Promise<TaskQueueInfo> {
  const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_TASKS };
  return client.workflowService.describeTaskQueue(asked);
}

/**
 * Ours are those that the task queue itself names, which is known at once, and of those that the server
 * lists, some moments later, the ones whose newest or current version has asked our task queue.
 */
async function deploymentsOf(place: Place, queue: TaskQueueInfo): Promise<Info[]> {
  const { currentDeploymentVersion, rampingDeploymentVersion } = queue.versioningInfo ?? {};
  const ours = new Set(
    [
      currentDeploymentVersion,
      rampingDeploymentVersion,
      ...queue.pollers.map(({ deploymentOptions }) => deploymentOptions),
    ].flatMap((named) => named?.deploymentName || []),
  );
  const others = (await listDeployments(place)).filter(({ name }) => !ours.has(name ?? ''));
  await Promise.all(
    others.map(async ({ name, latestVersionSummary, currentVersionSummary }) => {
      const some = [latestVersionSummary, currentVersionSummary].flatMap(
        (summary) => summary ?? [],
      );
      if (name && (await asksUs(place, some))) ours.add(name);
    }),
  );
  const { client, namespace } = place;
  const described = [...ours].map((deploymentName) =>
    unlessGone(client.workflowService.describeWorkerDeployment({ namespace, deploymentName })),
  );
  return (await Promise.all(described)).flatMap((each) => each?.workerDeploymentInfo ?? []);
}

async function listDeployments({ client, namespace }: Place): Promise<Listed[]> {
  const listed: Listed[] = [];
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const asked = { namespace, nextPageToken };
    const page = await client.workflowService.listWorkerDeployments(asked);
    listed.push(...page.workerDeployments);
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
  return listed;
}

async function asksUs(
  { client, namespace, taskQueue }: Place,
  versions: Summary[],
): Promise<boolean> {
  for (const { deploymentVersion } of versions) {
    if (!deploymentVersion) continue;
    const described = await unlessGone(
      client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion }),
    );
    if (described?.versionTaskQueues.some(({ name }) => name === taskQueue)) return true;
  }
  return false;
}

/** The server takes away deployments and versions that nobody uses, after it has listed them too. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND) return undefined;
    throw error;
  }
}

function asVersion(summary: Summary): ServerVersion[] {
  const { deploymentVersion, status, drainageInfo, createTime } = summary;
  const { deploymentName: deployment, buildId } = deploymentVersion ?? {};
  if (!deployment || !buildId) return [];
  const drainage = DRAINAGE.get(Number(status));
  const since =
    summary.currentSinceTime ?? summary.rampingSinceTime ?? drainageInfo?.lastChangedTime;
  const version = nameOf(deploymentVersion);
  return [{ version, deployment, buildId, drainage, since: isoOf(since ?? createTime) }];
}

function routingOf({ versioningInfo }: TaskQueueInfo): Rollout {
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } =
    versioningInfo ?? {};
  const current = nameOf(currentDeploymentVersion);
  const percent = rampingVersionPercentage ?? 0;
  const version = nameOf(rampingDeploymentVersion);
  // A ramp to workers without a version has no name, only its percentage.
  if (!rampingDeploymentVersion && percent === 0) return { current };
  return { current, ramping: { version, percent } };
}

function workersOf({ pollers }: TaskQueueInfo, now: number): Deployments['workers'] {
  const workers = new Map<string, VersionWorker[]>();
  for (const { identity, deploymentOptions, lastAccessTime } of pollers) {
    const seenAt = isoOf(lastAccessTime);
    if (!identity || seenAt === undefined) continue;
    const isVersioned = Number(deploymentOptions?.workerVersioningMode) === VERSIONED;
    const version = isVersioned ? nameOf(deploymentOptions) : UNVERSIONED;
    const live = now - Date.parse(seenAt) < LIVE_WITHIN_MS;
    workers.set(version, [...(workers.get(version) ?? []), { worker: identity, seenAt, live }]);
  }
  return workers;
}

function lastChange(infos: Info[]): Deployments['changed'] {
  const changes = infos.flatMap(({ lastModifierIdentity: by, routingConfig }) => {
    const times = [
      routingConfig?.currentVersionChangedTime,
      routingConfig?.rampingVersionPercentageChangedTime,
    ];
    const at = times
      .flatMap((time) => isoOf(time) ?? [])
      .toSorted()
      .at(-1);
    return by && at !== undefined ? [{ by, at }] : [];
  });
  return changes.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
}
