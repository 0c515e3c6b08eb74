import { asData } from './data.ts';
import type { AgentInput } from './input.ts';
import type { Message, Usage } from './messages.ts';
import { sizeOf } from './size.ts';
import type { AgentState, Digest, Note } from './state.ts';

/** What stands in for the turns that were dropped. */
export function digestMessage(digest: Digest): Message {
  return { role: 'user', content: asData('program', digest) };
}

/** The most tokens that the next prompt can have: never fewer than the model will count. */
function promptBound(input: Pick<AgentInput, 'promptSize'>, state: AgentState): number {
  const bySize = sizeOfPrompt(input, state);
  // A byte is a quarter of a token, mostly: what the server has counted is the closer bound.
  return state.counted === undefined
    ? bySize
    : Math.min(bySize, state.counted + sizeOfNotes(state.notes));
}

/** What the next call of the model uses at most. */
export function worstCase(
  input: Pick<AgentInput, 'promptSize' | 'limits'>,
  state: AgentState,
): Usage {
  return {
    inputTokens: promptBound(input, state),
    outputTokens: input.limits.maxOutputTokens,
  };
}

/**
 * Drops the oldest turns when the prompt has grown too large: to half of what is allowed, so that it is
 * not done with every turn and a provider's cache of prompts stays of use. What the program knows takes
 * their place. The last turn always stays, since the next results belong to its calls.
 */
export function boundWindow(
  input: Pick<AgentInput, 'promptSize' | 'limits'>,
  state: AgentState,
): AgentState {
  const { maxPromptBytes } = input.limits;
  if (sizeOfPrompt(input, state) <= maxPromptBytes || state.window.length <= 1) return state;
  let kept = { ...state };
  delete kept.counted;
  while (kept.window.length > 1 && sizeOfPrompt(input, kept) > maxPromptBytes / 2) {
    const turns = (kept.digest?.turns ?? 0) + 1;
    kept = { ...kept, digest: { turns, ...state.facts }, window: kept.window.slice(1) };
  }
  return kept;
}

function sizeOfPrompt(
  { promptSize }: Pick<AgentInput, 'promptSize'>,
  { digest, window, notes }: AgentState,
): number {
  const known = digest ? sizeOf(digestMessage(digest)) : 0;
  return window.reduce((sum, size) => sum + size, promptSize + known + sizeOfNotes(notes));
}

function sizeOfNotes(notes: readonly Note[]): number {
  return notes.reduce((sum, note) => {
    if ('ref' in note) return sum + note.size;
    const { text: content } = note;
    return (
      sum +
      sizeOf(
        note.role === 'user'
          ? { role: 'user', content }
          : { role: 'tool', callId: note.callId, content },
      )
    );
  }, 0);
}
