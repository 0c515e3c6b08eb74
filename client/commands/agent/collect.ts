import { collect as collectFrom } from '../../../agent/store/collect.ts';
import type { AgentPipeline, TranscriptPlace } from '../../../core/agent/contract.ts';
import { NotInStore } from '../../../core/agent/store.ts';
import type { ClaimCheckStore, Ref } from '../../../core/agent/store.ts';
import type { Answer } from '../../answer.ts';
import { openStoreOf } from '../../claim-check.ts';
import { cannot } from '../../endings.ts';
import { badInput } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Session } from '../../session.ts';
import { text } from '../../view/text.ts';

/** Further back than any attempt lasts: what one has just stored is named by nobody yet. */
const AGE_MS = 3_600_000;

/** Takes away what no run names: what a crash between the store and the checkpoint left. */
export async function collect(
  session: Session,
  { force = false }: { force?: boolean },
): Promise<Answer> {
  const agents = await session.agents();
  if (agents.implementation === 'chain') {
    throw cannot(agents, { kind: 'cannot', reason: 'it has no store: all is in its messages' });
  }
  const { store, folder } = await openStoreOf(session);
  const before = new Date(session.now.getTime() - AGE_MS);
  const counted = counting(store);
  const named = { runs: 0 };
  let taken: number;
  try {
    const places = await placesIn(agents, named);
    if (named.runs === 0 && !force) throw notTheirs(session.on, folder);
    taken = await collectFrom(counted.store, places, before);
  } catch (error) {
    if (!(error instanceof NotInStore)) throw error;
    throw badInput(
      `A run on ${session.on} names what is not in ${folder} (${error.message}), so nothing was taken. ` +
        `Q2T_STORE_DIR must name the folder that its workers have.`,
    );
  }
  const result = { kind: 'collected', taken, bytes: counted.bytes(), folder };
  const out = [text`orphans taken: ${taken} (${result.bytes} bytes), from ${folder}`];
  return { exitCode: EXIT.done, json: { result }, out };
}

/** All of them before anything is taken, and how many have something in the store. */
async function placesIn(
  agents: AgentPipeline,
  named: { runs: number },
): Promise<TranscriptPlace[]> {
  const places: TranscriptPlace[] = [];
  for await (const place of agents.places()) {
    places.push(place);
    if (place.head !== undefined) named.runs += 1;
  }
  return places;
}

/** The store of another implementation, or of another database, would be emptied. */
function notTheirs(on: string, folder: string) {
  return badInput(
    `No run on ${on} has anything in a store, so all of ${folder} would go. ` +
      'Nothing was taken; --force says that it is the right folder all the same.',
  );
}

/** The same store, with a count of what is taken from it. */
function counting(store: ClaimCheckStore): { store: ClaimCheckStore; bytes: () => number } {
  const sizes = new Map<Ref, number>();
  let bytes = 0;
  const counted: ClaimCheckStore = {
    ...store,
    async *storedBefore(before) {
      for await (const stored of store.storedBefore(before)) {
        sizes.set(stored.ref, stored.bytes);
        yield stored;
      }
    },
    async remove(ref, before) {
      const removed = await store.remove(ref, before);
      if (removed) bytes += sizes.get(ref) ?? 0;
      return removed;
    },
  };
  return { store: counted, bytes: () => bytes };
}
