import type { WorkflowBundleOption } from '@temporalio/worker';
import { replayAll } from '../../replay/gate/replay.ts';
import type { KnownHistory } from '../../replay/history/file.ts';
import type { SpeedCell } from './plan.ts';

/**
 * Replays one history again and again with one worker, as a gate does with many: until `atLeast` events
 * are replayed, and twice at least. Throws when it does not replay.
 */
export async function measureSpeed(
  bundle: WorkflowBundleOption,
  known: KnownHistory,
  atLeast: number,
): Promise<SpeedCell> {
  const { name } = known;
  const events = known.history.events?.length ?? 0;
  const replays = Math.max(2, Math.ceil(atLeast / events));
  const times: number[] = [];
  // The first one loads the bundle, and is not counted.
  const histories = Array.from({ length: replays + 1 }, () => known);
  let last = performance.now();
  for await (const { error } of replayAll(bundle, histories)) {
    if (error !== undefined) throw new Error(`${name} does not replay: ${error}`);
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  const counted = times.slice(1);
  const msPerReplay = counted.reduce((sum, ms) => sum + ms, 0) / counted.length;
  return { name, events, replays, msPerReplay, eventsPerSecond: (events / msPerReplay) * 1_000 };
}
