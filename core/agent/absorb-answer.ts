import { plain, quote } from '../order/quote.ts';
import { draftOf } from './draft.ts';
import type { AgentEvent } from './events.ts';
import type { AgentInput } from './input.ts';
import { worstCase } from './prompt.ts';
import type { ReadAnswer, ReadCall } from './read-answer.ts';
import { charge } from './spend.ts';
import type { AgentState, Note } from './state.ts';
import { isLast } from './uses.ts';
import type { ToolUse } from './uses.ts';

type Answered = Extract<AgentEvent, { kind: 'model-answered' }>;
type Told = Note & { text: string };

/** The state after an answer of the model: paid for, written down, and either acted on or sent back. */
export function absorbAnswer(input: AgentInput, state: AgentState, event: Answered): AgentState {
  const after = paid(input, state, event);
  const { answer } = event;
  const [only] = answer.calls;
  if (answer.calls.length === 1 && answer.ignoredCalls === 0 && only?.ok) {
    const { callId, use } = only;
    if (use.does === 'refuse') {
      const reason = plain(use.reason, 1_000);
      return { ...after, repairs: 0, end: { outcome: 'refused', reason } };
    }
    if (use.does === 'submit') {
      const made = draftOf(input.request, state.facts, use);
      if (!made.ok) return repair(input, after, [errorNote(callId, made.error)]);
      return { ...after, repairs: 0, draft: { callId, ...made.draft, approved: false } };
    }
  }
  const judged = answer.calls.map((call) => judge(state, call));
  const complaints = [
    ...judged.flatMap((call) => (call.ok ? [] : [errorNote(call.callId, call.error)])),
    ...complaintsAbout(answer),
  ];
  const open = judged.flatMap((call) => (call.ok ? [{ callId: call.callId, use: call.use }] : []));
  if (complaints.length > 0) return repair(input, { ...after, open }, complaints);
  return { ...after, open, repairs: 0 };
}

/** The answer is charged, whatever it is worth. */
function paid(input: AgentInput, state: AgentState, event: Answered): AgentState {
  const { answer, entry, turn } = event;
  const { usage } = answer;
  const worst = worstCase(input, state);
  const after: AgentState = {
    ...state,
    turn,
    spent: charge(state.spent, { usage, worst }, input.price),
    lost: 0,
    head: entry.ref,
    window: [...state.window, entry.size],
    notes: [],
  };
  // What was asked and answered is what the next prompt begins with.
  if (usage) after.counted = usage.inputTokens + entry.answerSize;
  else delete after.counted;
  return after;
}

/** Whether a call that could be read can be made. */
function judge(state: AgentState, call: ReadCall): ReadCall {
  if (!call.ok) return call;
  const error = objection(state, call.use);
  return error === undefined ? call : { callId: call.callId, ok: false, error };
}

function objection({ facts }: AgentState, use: ToolUse): string | undefined {
  if (isLast(use)) return 'this tool must be the only call of its answer';
  if (use.does !== 'quote') return undefined;
  const { supplierId, sku } = use;
  const shown = facts.articles.some((each) => each.supplierId === supplierId && each.sku === sku);
  return shown ? undefined : `no search has shown ${quote(sku)} of supplier ${quote(supplierId)}`;
}

/** What is wrong with the answer as a whole. */
function complaintsAbout({ finish, calls, ignoredCalls }: ReadAnswer): Told[] {
  const say = (text: string): Told[] => [{ role: 'user', text: `error: ${text}` }];
  if (finish === 'length') return say('the answer was too long and has been cut; be brief');
  if (ignoredCalls > 0) return say(`${ignoredCalls} calls too many in one answer were ignored`);
  return calls.length === 0 ? say('use a tool: submit an order, or refuse with a reason') : [];
}

/** Sent back, so that the model can do better; too often in a row, and the run ends. */
function repair(input: AgentInput, state: AgentState, notes: Told[]): AgentState {
  const repairs = state.repairs + 1;
  if (repairs > input.limits.maxRepairs) {
    const last = notes[0]?.text ?? '';
    const reason = `${repairs} answers in a row could not be used; the last: ${last}`;
    return { ...state, repairs, end: { outcome: 'exhausted', reason } };
  }
  return { ...state, repairs, notes: [...state.notes, ...notes] };
}

function errorNote(callId: string, error: string): Told {
  return { role: 'tool', callId, text: `error: ${plain(error, 500)}` };
}
