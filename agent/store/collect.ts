import type { AgentState } from '../../core/agent/state.ts';
import type { ClaimCheckStore, Ref } from '../../core/agent/store.ts';
import { refsOf } from '../../core/agent/transcript.ts';

/** A run as far as the store is concerned. */
export type Kept = Pick<AgentState, 'head' | 'notes'>;

/** For how long content that nobody names may still belong to an attempt under way, ms. */
export const UNNAMED_MS = 3_600_000;

export interface Collected {
  taken: number;
  bytes: number;
}

/**
 * Takes away what no run names and what was stored before `before`: what a crash between the store and
 * the checkpoint left. `before` must lie further back than any attempt lasts, since what an attempt has
 * just stored is named by nobody yet. Returns how many were taken, and their bytes. Throws NotInStore when a run names
 * what is not there, and then has taken nothing.
 * @param runs every run that is still kept, as it is now or will be later
 */
export async function collect(
  store: ClaimCheckStore,
  runs: AsyncIterable<Kept> | Iterable<Kept>,
  before: Date,
): Promise<Collected> {
  const needed = new Set<Ref>();
  for await (const run of runs) {
    for await (const ref of refsOf(store, run)) needed.add(ref);
  }
  const collected = { taken: 0, bytes: 0 };
  for await (const { ref, bytes } of store.storedBefore(before)) {
    if (needed.has(ref) || !(await store.remove(ref, before))) continue;
    collected.taken += 1;
    collected.bytes += bytes;
  }
  return collected;
}
