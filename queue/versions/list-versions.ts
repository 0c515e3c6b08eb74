import type { Pool } from 'pg';
import { maySwitchOff, standingIn } from '../../core/versions.ts';
import type { Rollout, Standing, VersionsResult, VersionWorker } from '../../core/versions.ts';
import { pipelinesOf } from '../steps/pipelines.ts';
import type { RunKind } from '../runs/run.ts';
import { CODES_OWN, kindOfVersion } from './names.ts';
import { LIVE } from './presence.ts';
import { readRollout } from './rollout.ts';

/** Every version that the code, a run that has not ended, a worker or a rollout names: the orders' first, then the agent's. */
export async function listVersions(pool: Pool): Promise<VersionsResult> {
  const [orders, agents, open, workers, changed] = await Promise.all([
    readRollout(pool, 'order'),
    readRollout(pool, 'agent'),
    openRuns(pool),
    workersOf(pool),
    lastChange(pool),
  ]);
  const rollouts: Record<RunKind, Rollout> = { order: orders, agent: agents };
  const named = [orders, agents].flatMap(({ current, ramping }) =>
    ramping ? [current, ramping.version] : [current],
  );
  const known = [...pipelinesOf().versions, ...named, ...open.keys(), ...workers.keys()];
  const versions = [...new Set(known)].toSorted(newestFirst).map(async (version) => {
    const rollout = rollouts[kindOfVersion(version)];
    const standing = await standingOf(pool, version, open.get(version) ?? 0, rollout);
    return {
      version,
      ...standing,
      workers: workers.get(version) ?? [],
      maySwitchOff: maySwitchOff(standing, rollout.current),
    };
  });
  return {
    kind: 'versions',
    versions: await Promise.all(versions),
    // A change that is shipped inside a version has no counterpart: here every one is a version.
    patches: [],
    ...(changed && { changed }),
  };
}

/** A run stays with its version, so all of them are bound to it. */
async function standingOf(
  pool: Pool,
  version: string,
  openRuns: number,
  rollout: Rollout,
): Promise<Standing> {
  const counts = { openRuns, boundRuns: openRuns };
  const named = standingIn(rollout, version);
  if (named) return { ...named, ...counts };
  if (openRuns > 0) return { state: 'draining', percent: 0, ...counts };
  // The code brings a new version before anybody has made it current.
  const isNew = version === CODES_OWN[kindOfVersion(version)] && !(await wasUsed(pool, version));
  return { state: isNew ? 'inactive' : 'drained', percent: 0, ...counts };
}

async function wasUsed(pool: Pool, version: string): Promise<boolean> {
  const { rows } = await pool.query<{ used: boolean }>(
    'SELECT EXISTS (SELECT FROM queue.run WHERE version = $1) AS used',
    [version],
  );
  return rows[0]?.used === true;
}

async function openRuns(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ version: string; runs: number }>(
    `SELECT version, count(*)::int AS runs FROM queue.run WHERE ended_at IS NULL GROUP BY version`,
  );
  return new Map(rows.map(({ version, runs }) => [version, runs]));
}

/** Those that run and those that were lost not long ago; one that was stopped has said so. */
async function workersOf(pool: Pool): Promise<Map<string, VersionWorker[]>> {
  const { rows } = await pool.query<{
    version: string;
    name: string;
    seen_at: Date;
    live: boolean;
  }>(
    `SELECT v AS version, name, seen_at, ${LIVE} AS live
     FROM queue.worker w, unnest(versions) v WHERE stopped_at IS NULL ORDER BY v, seen_at DESC`,
  );
  const workers = new Map<string, VersionWorker[]>();
  for (const { version, name: worker, seen_at, live } of rows) {
    const known = workers.get(version) ?? [];
    workers.set(version, [...known, { worker, seenAt: seen_at.toISOString(), live }]);
  }
  return workers;
}

/** The last change of where new runs begin. */
async function lastChange(pool: Pool): Promise<{ by: string; at: string } | undefined> {
  const { rows } = await pool.query<{ at: Date; by: string }>(
    `SELECT at, by FROM queue.version_change WHERE action <> 'move' ORDER BY id DESC LIMIT 1`,
  );
  const [row] = rows;
  return row && { by: row.by, at: row.at.toISOString() };
}

function newestFirst(one: string, other: string): number {
  const kinds = kindOfVersion(other).localeCompare(kindOfVersion(one), 'en');
  if (kinds !== 0) return kinds;
  return other.localeCompare(one, 'en', { numeric: true });
}
