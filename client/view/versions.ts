import type { PatchInfo, VersionInfo, VersionWorker } from '../../core/versions.ts';
import { tableLines } from './table.ts';
import { relativeTo } from './time.ts';

/** One version a line: its part of the new runs, its open ones, who serves it, and whether it may go. */
export function versionLines(versions: readonly VersionInfo[], now: Date): string[] {
  const head = ['VERSION', 'STATE', 'NEW RUNS', 'OPEN', 'BOUND', 'SERVED BY', 'SWITCH OFF?'];
  return tableLines(
    head,
    versions.map(({ version, state, percent, openRuns, boundRuns, workers, maySwitchOff }) => [
      version,
      state,
      `${percent} %`,
      String(openRuns),
      String(boundRuns),
      servedBy(workers, now),
      `${maySwitchOff.may ? 'yes' : 'no'}: ${maySwitchOff.why}`,
    ]),
  );
}

/** A change that is shipped inside a version, and how many of the open runs have it. */
export function patchLines(patches: readonly PatchInfo[]): string[] {
  return tableLines(
    ['PATCH', 'RUNS WITH', 'RUNS WITHOUT'],
    patches.map(({ patch, runsWith, runsWithout }) => [
      patch,
      String(runsWith),
      String(runsWithout),
    ]),
  );
}

function servedBy(workers: readonly VersionWorker[], now: Date): string {
  const last = workers
    .map(({ seenAt }) => seenAt)
    .toSorted()
    .at(-1);
  if (last === undefined) return 'nobody';
  const seen = `seen ${relativeTo(now, new Date(last))}`;
  const live = workers.filter((worker) => worker.live).length;
  return live === 0
    ? `nobody, last ${seen}`
    : `${live} ${live === 1 ? 'worker' : 'workers'}, ${seen}`;
}
