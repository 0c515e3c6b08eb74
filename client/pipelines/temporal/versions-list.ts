import type { Client } from '@temporalio/client';
import { UNVERSIONED, maySwitchOff, standingIn } from '../../../core/versions.ts';
import type { PatchInfo, VersionInfo, VersionsResult } from '../../../core/versions.ts';
import { AGENT_WORKFLOW, ORDER_WORKFLOW } from '../../../workflows/search-attributes.ts';
import type { Deployments, Place, ServerVersion } from './deployments.ts';
import { readDeployments } from './deployments.ts';

/** Patches that the workflows ask for now, with the type of those that do. A test compares them with the code. */
export const PATCHES: ReadonlyMap<string, string> = new Map([
  ['screen', ORDER_WORKFLOW],
  ['agent-2', AGENT_WORKFLOW],
]);

/** So many of the newest open runs are looked at for patches of older or newer code. */
const LOOKED_AT = 200;

/** Which versions serve the task queue, what they hold, and which of them nobody needs any more. */
export async function listVersions(place: Place): Promise<VersionsResult> {
  const [deployments, patches] = await Promise.all([readDeployments(place), patchesOf(place)]);
  const { versions, changed } = deployments;
  const listed = await Promise.all(versions.map((version) => infoOf(place, deployments, version)));
  const without = await unversionedInfo(place, deployments);
  return {
    kind: 'versions',
    versions: [...listed, ...without],
    patches,
    ...(changed && { changed }),
  };
}

async function infoOf(
  { client }: Place,
  { routing, workers }: Deployments,
  { version, drainage, since }: ServerVersion,
): Promise<VersionInfo> {
  const onIt = `${RUNNING} AND TemporalWorkerDeploymentVersion = ${quoted(version)}`;
  const [openRuns, boundRuns] = await Promise.all([
    count(client, onIt),
    // The others follow the current version with their next task.
    count(client, `${onIt} AND TemporalWorkflowVersioningBehavior = 'Pinned'`),
  ]);
  const { state, percent } = standingIn(routing, version) ?? { state: undefined, percent: 0 };
  const standing = {
    // One that no routing names and that has not drained is new, or was moved to another queue.
    state: state ?? drainage ?? (boundRuns > 0 ? 'draining' : 'inactive'),
    percent,
    openRuns,
    boundRuns,
  };
  return {
    version,
    ...standing,
    ...(since === undefined ? {} : { since }),
    workers: workers.get(version) ?? [],
    maySwitchOff: maySwitchOff(standing, routing.current),
  };
}

/** Workers without a version and their runs; nothing when there are neither, and no new run goes there. */
async function unversionedInfo(
  { client, taskQueue }: Place,
  { routing, workers, versions }: Deployments,
): Promise<VersionInfo[]> {
  const onQueue = `${RUNNING} AND TaskQueue = ${quoted(taskQueue)}`;
  const deployments = [...new Set(versions.map(({ deployment }) => deployment))];
  // Counted as the difference: visibility stores do not agree on how to ask for what has no value.
  const [all, ...versioned] = await Promise.all([
    count(client, onQueue),
    ...deployments.map((name) => {
      return count(client, `${onQueue} AND TemporalWorkerDeployment = ${quoted(name)}`);
    }),
  ]);
  const openRuns = Math.max(
    0,
    versioned.reduce((left, some) => left - some, all),
  );
  const named = standingIn(routing, UNVERSIONED);
  const pollers = workers.get(UNVERSIONED) ?? [];
  if (!named && openRuns === 0 && pollers.length === 0) return [];
  const { state, percent } = named ?? { state: 'drained', percent: 0 };
  const standing = { state, percent, openRuns, boundRuns: 0 };
  return [
    {
      version: UNVERSIONED,
      ...standing,
      workers: pollers,
      maySwitchOff: maySwitchOff(standing, routing.current),
    },
  ];
}

/**
 * How many open runs of its type have each patch. One that has not come to a patch yet counts as without
 * it, and so does one that went on in a new execution: it asks no more, but carries its version on.
 */
async function patchesOf({ client, taskQueue }: Place): Promise<PatchInfo[]> {
  const open = `${RUNNING} AND TaskQueue = ${quoted(taskQueue)}`;
  const types = new Map(PATCHES);
  let looked = 0;
  for await (const { type, searchAttributes } of client.workflow.list({ query: open })) {
    const patches = searchAttributes['TemporalChangeVersion'];
    for (const patch of Array.isArray(patches) ? patches : []) {
      if (!types.has(String(patch))) types.set(String(patch), type);
    }
    if (++looked === LOOKED_AT) break;
  }
  const named = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(
    named.map(async ([patch, type]) => {
      const ofType = `${open} AND WorkflowType = ${quoted(type)}`;
      const [all, runsWith] = await Promise.all([
        count(client, ofType),
        count(client, `${ofType} AND TemporalChangeVersion = ${quoted(patch)}`),
      ]);
      return { patch, runsWith, runsWithout: Math.max(0, all - runsWith) };
    }),
  );
}

const RUNNING = `ExecutionStatus = 'Running'`;

async function count(client: Client, query: string): Promise<number> {
  return (await client.workflow.count(query)).count;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
