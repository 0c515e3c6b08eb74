import type { Cannot } from './contract.ts';
import type { OrderId } from './identity.ts';

/** The one that is not a version of anything: workers that were told of no deployment, and their runs. */
export const UNVERSIONED = 'unversioned';

/** Where a run is moved to that shall follow whatever is current, instead of staying with one version. */
export const AUTO_UPGRADE = 'auto-upgrade';

/**
 * - `current`: where new runs begin
 * - `ramping`: where a part of the new runs begin
 * - `draining`: none begin here any more, and there are runs that only this version can go on with
 * - `drained`: none begin here, and none needs it
 * - `inactive`: none has begun here yet
 */
export type VersionState = 'current' | 'ramping' | 'draining' | 'drained' | 'inactive';

/** A process that asks for the work of a version. */
export interface VersionWorker {
  worker: string;
  /** When it last asked, ISO 8601. */
  seenAt: string;
  /** False when that is so long ago that it must be gone. */
  live: boolean;
}

/** One version of the code, as it stands now. Times are ISO 8601 in UTC. */
export interface VersionInfo {
  version: string;
  state: VersionState;
  /** Since when it has been in this state, where that is known. */
  since?: string;
  /** How many of a hundred new runs begin here. */
  percent: number;
  /** Runs that have not ended. */
  openRuns: number;
  /** Those of them that no other version takes over: they stand still while nobody serves this one. */
  boundRuns: number;
  workers: VersionWorker[];
  /** Whether its workers may be switched off now, and why or why not, in words. */
  maySwitchOff: { may: boolean; why: string };
}

/** A change of the workflow's code that is shipped inside one version: how many open runs took it. */
export interface PatchInfo {
  patch: string;
  runsWith: number;
  runsWithout: number;
}

export type VersionsResult =
  | {
      kind: 'versions';
      versions: VersionInfo[];
      patches: PatchInfo[];
      /** Who last changed where new runs begin, and when. */
      changed?: { by: string; at?: string };
    }
  | Cannot;

/** Where new runs begin: all but the ramp's share on the current version. */
export interface Rollout {
  current: string;
  ramping?: { version: string; percent: number };
}

/** What came of a change of the rollout, and how it stands now. */
export type RolloutResult =
  | ({ kind: 'changed' } & Rollout)
  | { kind: 'conflict'; reason: string }
  | { kind: 'not-found'; reason: string }
  | Cannot;

export type MoveResult =
  | { kind: 'moved'; from: string; to: string }
  | { kind: 'conflict'; reason: string }
  /** No such run, or no such version: the reason says which. */
  | { kind: 'not-found'; reason: string }
  | Cannot;

/** Which versions of the code there are, which of them new runs begin on, and where an open run goes on. */
export interface Versions {
  list(): Promise<VersionsResult>;
  /** All new runs begin on `version` from now on. Naming the older one again is a rollback. */
  setCurrent(version: string, by: string): Promise<RolloutResult>;
  /** So many of a hundred new runs begin on `version`, the others on the current one. 0 ends the ramp. */
  ramp(version: string, percent: number, by: string): Promise<RolloutResult>;
  /** An open run goes on with the code of another version. */
  move(id: OrderId, version: string, by: string): Promise<MoveResult>;
}

/** The versions of an implementation that has none. */
export function noVersions(reason: string): Versions {
  const cannot = () => Promise.resolve<Cannot>({ kind: 'cannot', reason });
  return { list: cannot, setCurrent: cannot, ramp: cannot, move: cannot };
}

/** What the rollout says of a version; undefined when no new run begins there. */
export function standingIn(
  { current, ramping }: Rollout,
  version: string,
): Pick<VersionInfo, 'state' | 'percent'> | undefined {
  if (version === current) return { state: 'current', percent: 100 - (ramping?.percent ?? 0) };
  if (version === ramping?.version) return { state: 'ramping', percent: ramping.percent };
  return undefined;
}

/** What `maySwitchOff` looks at. */
export type Standing = Pick<VersionInfo, 'state' | 'percent' | 'openRuns' | 'boundRuns'>;

/**
 * Whether the workers of a version may be switched off, with the reason. `takenOverBy` names the version
 * that goes on with the runs which are not bound to this one.
 */
export function maySwitchOff(
  { state, percent, openRuns, boundRuns }: Standing,
  takenOverBy: string,
): VersionInfo['maySwitchOff'] {
  if (state === 'current') return { may: false, why: 'new runs begin here' };
  if (state === 'ramping') return { may: false, why: `${percent} of 100 new runs begin here` };
  if (boundRuns > 0) {
    return { may: false, why: `only it can go on with ${boundRuns} open ${runs(boundRuns)}` };
  }
  if (state === 'draining') return { may: false, why: 'runs that need it are still looked for' };
  if (openRuns === 0) return { may: true, why: 'no open run needs it' };
  return { may: true, why: `${takenOverBy} goes on with its ${openRuns} open ${runs(openRuns)}` };
}

function runs(count: number): string {
  return count === 1 ? 'run' : 'runs';
}
