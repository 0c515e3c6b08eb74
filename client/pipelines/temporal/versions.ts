import { isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Cannot } from '../../../core/contract.ts';
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { AUTO_UPGRADE, UNVERSIONED } from '../../../core/versions.ts';
import type {
  MoveResult,
  Rollout,
  RolloutResult,
  Versions,
  VersionsResult,
} from '../../../core/versions.ts';
import type { Place } from './deployments.ts';
import { NOT_FOUND, nameOf, readDeployments, readRouting } from './deployments.ts';
import { describeRun, isRunning } from './description.ts';
import { listVersions } from './versions-list.ts';

/** How long to wait until the server has told its task queues. */
const TOLD_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;
const TELLING = 1;

const PINNED = 1;
/** gRPC's numbers; NOT_FOUND is with the deployments. */
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

/** Versions on Temporal are those of worker deployments; the server routes tasks to their workers. */
export function versions(client: Client, namespace: string, taskQueue: string): Versions {
  const place = { client, namespace, taskQueue };
  return {
    list: () => orCannot<VersionsResult>(() => listVersions(place)),
    setCurrent: (version, by) => asAnswered(() => setCurrent(place, version, by)),
    ramp: (version, percent, by) => asAnswered(() => ramp(place, version, percent, by)),
    move: (id, version, by) => asAnswered(() => move(place, id, version, by)),
  };
}

async function setCurrent(place: Place, asked: string, by: string): Promise<RolloutResult> {
  const target = await targetOf(place, asked);
  if (target.kind !== 'target') return target;
  const { deploymentName, buildId } = target;
  await change(place, deploymentName, (conflictToken) =>
    place.client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: place.namespace,
      deploymentName,
      buildId,
      identity: by,
      conflictToken,
    }),
  );
  return changed(place);
}

async function ramp(
  place: Place,
  asked: string,
  percentage: number,
  by: string,
): Promise<RolloutResult> {
  const target = await targetOf(place, asked);
  if (target.kind !== 'target') return target;
  const { deploymentName, buildId, version, routing } = target;
  if (percentage === 0 && routing.ramping?.version !== version) {
    return { kind: 'conflict', reason: `${version} is not ramping` };
  }
  await change(place, deploymentName, (conflictToken) =>
    place.client.workflowService.setWorkerDeploymentRampingVersion({
      namespace: place.namespace,
      deploymentName,
      // None, with no percentage, takes the ramp away, so that the version can drain.
      buildId: percentage === 0 ? '' : buildId,
      percentage,
      identity: by,
      conflictToken,
    }),
  );
  return changed(place);
}

/** Sends a change that fails when somebody else made one since, and waits until it holds. */
async function change(
  { client, namespace }: Place,
  deploymentName: string,
  send: (conflictToken: Uint8Array) => Promise<unknown>,
): Promise<void> {
  const describe = () =>
    client.workflowService.describeWorkerDeployment({ namespace, deploymentName });
  await send((await describe()).conflictToken);
  const deadline = Date.now() + TOLD_WITHIN_MS;
  while (Date.now() < deadline) {
    const { workerDeploymentInfo } = await describe();
    if (Number(workerDeploymentInfo?.routingConfigUpdateState) !== TELLING) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function changed(place: Place): Promise<RolloutResult> {
  return { kind: 'changed', ...(await readRouting(place)) };
}

type Target =
  | { kind: 'target'; version: string; deploymentName: string; buildId: string; routing: Rollout }
  | { kind: 'not-found' | 'conflict'; reason: string };

/** The version that is meant by its full name, or by a build id that one deployment only has. */
async function targetOf(place: Place, asked: string): Promise<Target> {
  const { versions: known, routing } = await readDeployments(place);
  if (asked === UNVERSIONED) {
    const ofQueue = known.find(({ version }) => {
      return version === routing.current || version === routing.ramping?.version;
    });
    if (!ofQueue) return { kind: 'conflict', reason: 'all runs begin on unversioned workers' };
    const { deployment: deploymentName } = ofQueue;
    return { kind: 'target', version: UNVERSIONED, deploymentName, buildId: '', routing };
  }
  const found = known.filter(({ version, buildId }) => version === asked || buildId === asked);
  const [one, ...others] = found;
  if (!one) {
    const names = known.map(({ version }) => version).join(', ') || 'none';
    const reason = `no worker of a version ${asked} has ever asked for work here; known: ${names}`;
    return { kind: 'not-found', reason };
  }
  if (others.length > 0) {
    const names = found.map(({ version }) => version).join(', ');
    return { kind: 'conflict', reason: `${asked} is one of several: ${names}` };
  }
  const { version, deployment: deploymentName, buildId } = one;
  return { kind: 'target', version, deploymentName, buildId, routing };
}

/** An override of one run's versioning. It stays until another takes its place, and its children inherit it. */
async function move(place: Place, id: OrderId, asked: string, by: string): Promise<MoveResult> {
  const { client, namespace } = place;
  const run = await describeRun(client, id);
  if (!run) return { kind: 'not-found', reason: 'there is no such order' };
  if (!isRunning(run)) return { kind: 'conflict', reason: 'the run has ended' };
  const { versioningInfo } = run.raw.workflowExecutionInfo ?? {};
  const pinnedTo = versioningInfo?.versioningOverride?.pinned?.version;
  const from = nameOf(pinnedTo ?? versioningInfo?.deploymentVersion);
  const target = asked === AUTO_UPGRADE ? undefined : await targetOf(place, asked);
  if (target && target.kind !== 'target') return target;
  if (target?.version === UNVERSIONED) {
    const reason = `a run can't be bound to workers without a version; ${AUTO_UPGRADE} lets it follow the current ones`;
    return { kind: 'conflict', reason };
  }
  const versioningOverride = target
    ? { pinned: { behavior: PINNED, version: target } }
    : { autoUpgrade: true };
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace,
    workflowExecution: { workflowId: runIdOf(id), runId: run.runId },
    workflowExecutionOptions: { versioningOverride },
    updateMask: { paths: ['versioning_override'] },
    identity: by,
  });
  return { kind: 'moved', from, to: target?.version ?? AUTO_UPGRADE };
}

type Refused = Cannot | { kind: 'conflict' | 'not-found'; reason: string };

/** The server's refusals are answers; what else it fails with is thrown. */
function asAnswered<T>(work: () => Promise<T>): Promise<T | Refused> {
  return orCannot<T | Refused>(async () => {
    try {
      return await work();
    } catch (error) {
      if (!isGrpcServiceError(error)) throw error;
      const reason = error.details;
      if (Number(error.code) === FAILED_PRECONDITION) return { kind: 'conflict', reason };
      if (Number(error.code) === NOT_FOUND) return { kind: 'not-found', reason };
      throw error;
    }
  });
}

async function orCannot<T>(work: () => Promise<T>): Promise<T | Cannot> {
  try {
    return await work();
  } catch (error) {
    if (!isGrpcServiceError(error) || Number(error.code) !== UNIMPLEMENTED) throw error;
    return { kind: 'cannot', reason: 'this Temporal server knows no worker deployments' };
  }
}
