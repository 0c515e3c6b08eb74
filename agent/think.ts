import type { EntryInStore } from '../core/agent/events.ts';
import { firstMessages } from '../core/agent/input.ts';
import type { AgentInput } from '../core/agent/input.ts';
import type { AgentPolicy } from '../core/agent/policy.ts';
import type { Message } from '../core/agent/messages.ts';
import { digestMessage } from '../core/agent/prompt.ts';
import { readAnswer } from '../core/agent/read-answer.ts';
import type { ReadAnswer } from '../core/agent/read-answer.ts';
import { sizeOf } from '../core/agent/size.ts';
import type { AgentState } from '../core/agent/state.ts';
import type { ClaimCheckStore } from '../core/agent/store.ts';
import { messagesOfNotes, readEntries, writeEntry } from '../core/agent/transcript.ts';
import { agentVersion, toolsOf } from '../core/agent/versions.ts';
import type { Call, Model } from '../partners/contract.ts';

export interface ThinkDependencies {
  model: Pick<Model, 'complete'>;
  store: ClaimCheckStore;
}

/** What a turn needs to know of how the run was asked. */
export interface ThinkInput extends Pick<AgentInput, 'version' | 'request' | 'model'> {
  limits: Pick<AgentPolicy, 'maxOutputTokens' | 'maxCallsPerTurn' | 'maxArgumentChars'>;
}

/** What a turn needs to know of the run; all of it is small, and the rest is in the store. */
export interface Turn {
  turn: number;
  effectKey: string;
  state: Pick<AgentState, 'head' | 'digest' | 'window' | 'notes'>;
}

/** What a turn came to. Small: it goes into a history, or a row. */
export interface Thought {
  answer: ReadAnswer;
  entry: EntryInStore;
}

/**
 * One call of the model. The answer is in the store when this returns, and paid for; whoever loses what
 * this returns has lost the answer, and pays for another one. Throws StepFailure, NotInStore, or the
 * caller's own abort; RangeError for a version that is not there.
 */
export async function think(
  { model, store }: ThinkDependencies,
  input: ThinkInput,
  { turn, effectKey: key, state }: Turn,
  call: Call,
): Promise<Thought> {
  const version = agentVersion(input.version);
  const notes = await messagesOfNotes(store, state.notes);
  const messages = [...(await pastOf(store, input, state)), ...notes];
  const { maxOutputTokens } = input.limits;
  const question = { key, model: input.model, messages, tools: toolsOf(version), maxOutputTokens };
  const answer = await model.complete(question, call);
  const { read, message } = readAnswer(answer, version, input.limits);
  const previous = state.head ?? null;
  const ref = await writeEntry(store, { turn, previous, notes: state.notes, answer: message });
  const answerSize = sizeOf(message);
  const size = notes.reduce((sum, each) => sum + sizeOf(each), answerSize);
  return { answer: read, entry: { ref, size, answerSize } };
}

/** All that was said before this turn, as far as it is still sent. */
async function pastOf(
  store: ClaimCheckStore,
  { version, request }: ThinkInput,
  { head, digest, window }: Turn['state'],
): Promise<Message[]> {
  const entries = await readEntries(store, head, window.length);
  const turns = entries.map(async ({ notes, answer }, index): Promise<Message[]> => {
    // The calls that the oldest turn's results belong to are gone, and the digest has what came of them.
    const orphaned = index === 0 && digest !== undefined;
    return orphaned ? [answer] : [...(await messagesOfNotes(store, notes)), answer];
  });
  const told = digest ? [digestMessage(digest)] : [];
  return [...firstMessages(version, request), ...told, ...(await Promise.all(turns)).flat()];
}
