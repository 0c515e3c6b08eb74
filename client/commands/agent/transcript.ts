import type { TranscriptPlace } from '../../../core/agent/contract.ts';
import { NotInStore } from '../../../core/agent/store.ts';
import { messagesOfNotes, readEntries } from '../../../core/agent/transcript.ts';
import { businessKey } from '../../../core/identity.ts';
import type { Answer } from '../../answer.ts';
import { openStoreOf } from '../../claim-check.ts';
import { cannot, notFound } from '../../endings.ts';
import { CommandError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { resolveRequest } from '../../references.ts';
import { requestsOf } from '../../runs.ts';
import type { Session } from '../../session.ts';
import { transcriptLines } from '../../view/transcript.ts';
import type { Transcript } from '../../view/transcript.ts';

/** What was said between the agent and its model, from the claim-check store. Needs no live worker. */
export async function transcript(
  session: Session,
  reference: string,
  { full = false, buyer }: { full?: boolean; buyer?: string },
): Promise<Answer> {
  const agents = await session.agents();
  const id = await resolveRequest(agents, reference, buyer);
  const result = await agents.transcript(id);
  if (result.kind === 'not-found') throw notFound(requestsOf(agents), reference);
  if (result.kind === 'cannot') throw cannot(agents, result);
  const said = await read(session, result.position);
  const silent = said.turns.length === 0;
  return {
    exitCode: EXIT.done,
    json: { request: businessKey(id), result: { kind: 'transcript', ...said } },
    out: transcriptLines(said, full),
    err: silent ? ['The model has not answered yet.'] : [],
  };
}

async function read(session: Session, { head, notes }: TranscriptPlace): Promise<Transcript> {
  if (head === undefined && notes.length === 0) return { turns: [], since: [] };
  const { store, folder } = await openStoreOf(session);
  try {
    const entries = await readEntries(store, head);
    const turns = entries.map(async ({ turn, notes: before, answer }) => ({
      turn,
      before: await messagesOfNotes(store, before),
      answer,
    }));
    return { turns: await Promise.all(turns), since: await messagesOfNotes(store, notes) };
  } catch (error) {
    if (!(error instanceof NotInStore)) throw error;
    throw new CommandError(EXIT.unexpected, `Not in the store at ${folder}: ${error.message}.`, {
      hint: `Q2T_STORE_DIR names the folder that the workers of ${session.on} have.`,
      cause: error,
    });
  }
}
