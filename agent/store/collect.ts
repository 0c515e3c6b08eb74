import type { AgentState } from '../../core/agent/state.ts';
import type { ClaimCheckStore, Ref } from '../../core/agent/store.ts';
import { refsOf } from '../../core/agent/transcript.ts';

/** A run as far as the store is concerned. */
export type Kept = Pick<AgentState, 'head' | 'notes'>;

/**
 * Takes away what no run names and what was stored before `before`: what a crash between the store and
 * the checkpoint left. `before` must lie further back than any attempt lasts, since what an attempt has
 * just stored is named by nobody yet. Returns how many were taken. Throws NotInStore when a run names
 * what is not there, and then has taken nothing.
 * @param runs every run that is still kept, as it is now or will be later
 */
export async function collect(
  store: ClaimCheckStore,
  runs: AsyncIterable<Kept> | Iterable<Kept>,
  before: Date,
): Promise<number> {
  const needed = new Set<Ref>();
  for await (const run of runs) {
    for await (const ref of refsOf(store, run)) needed.add(ref);
  }
  let taken = 0;
  for await (const { ref } of store.storedBefore(before)) {
    if (!needed.has(ref) && (await store.remove(ref, before))) taken += 1;
  }
  return taken;
}
