import { collect as collectFrom, UNNAMED_MS } from '../../../agent/store/collect.ts';
import type { Collected } from '../../../agent/store/collect.ts';
import type { AgentPipeline, TranscriptPlace } from '../../../core/agent/contract.ts';
import { NotInStore } from '../../../core/agent/store.ts';
import type { Answer } from '../../answer.ts';
import { openStoreOf } from '../../claim-check.ts';
import { cannot } from '../../endings.ts';
import { badInput } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Session } from '../../session.ts';
import { text } from '../../view/text.ts';

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
  const before = new Date(session.now.getTime() - UNNAMED_MS);
  const named = { runs: 0 };
  let collected: Collected;
  try {
    const places = await placesIn(agents, named);
    if (named.runs === 0 && !force) throw notTheirs(session.on, folder);
    collected = await collectFrom(store, places, before);
  } catch (error) {
    if (!(error instanceof NotInStore)) throw error;
    throw badInput(
      `A run on ${session.on} names what is not in ${folder} (${error.message}), so nothing was taken. ` +
        `Q2T_STORE_DIR must name the folder that its workers have.`,
    );
  }
  const { taken, bytes } = collected;
  const result = { kind: 'collected', ...collected, folder };
  const out = [text`orphans taken: ${taken} (${bytes} bytes), from ${folder}`];
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
