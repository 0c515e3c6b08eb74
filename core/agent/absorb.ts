import { approvalNeeded } from '../decisions.ts';
import { plain } from '../order/quote.ts';
import { absorbAnswer } from './absorb-answer.ts';
import { asData } from './data.ts';
import type { AgentEvent, Learnt, ToolResult } from './events.ts';
import type { AgentInput } from './input.ts';
import { boundWindow, worstCase } from './prompt.ts';
import { chargeLost } from './spend.ts';
import type { AgentState, Facts, KnownArticle, Note } from './state.ts';

/** Of articles, and of quotes: the newest. They are told to the model and carried from turn to turn. */
const MAX_KNOWN = 40;
const MAX_ANSWERS = 10;
const MAX_ANSWER_CHARS = 1_000;
const MAX_ERROR_CHARS = 500;

/**
 * The state after something happened. An event that does not fit (an answer of an earlier turn, a
 * second answer to a question, anything after the end) changes nothing and returns the very same state,
 * so that hearing of something twice is hearing of it once.
 */
export function absorb(input: AgentInput, state: AgentState, event: AgentEvent): AgentState {
  if (state.end) return state;
  const after = take(input, state, event);
  return after === state ? state : settled(input, after);
}

function take(input: AgentInput, state: AgentState, event: AgentEvent): AgentState {
  switch (event.kind) {
    case 'model-answered':
      return isIdle(state) && event.turn === state.turn + 1
        ? absorbAnswer(input, state, event)
        : state;
    case 'calls-lost':
      return isIdle(state) && event.turn === state.turn + 1
        ? loseCalls(input, state, event.lostCalls)
        : state;
    case 'tools-used':
      return event.turn === state.turn ? useResults(state, event.results) : state;
    case 'person-answered':
    case 'person-decided':
    case 'nobody-answered':
      return event.gateVersion === state.question?.gateVersion ? hear(state, event) : state;
    case 'order-started':
      return state.draft?.approved && !state.following ? { ...state, following: true } : state;
    case 'order-ended': {
      if (!state.draft?.approved) return state;
      const { outcome, reason = 'as asked for' } = event;
      return end(state, outcome, `order ${state.draft.order.orderRef}: ${reason}`);
    }
    case 'cancelled': {
      const { by, reason } = event;
      // An order that has been started is cancelled first, and says what became of that.
      if (state.following) return state.cancel ? state : { ...state, cancel: { by, reason } };
      return end(state, 'cancelled', reason);
    }
    default:
      return event satisfies never;
  }
}

/** Each is charged once: what is told is how many there are, not that there was another. */
function loseCalls(input: AgentInput, state: AgentState, lostCalls: number): AgentState {
  const worst = worstCase(input, state);
  let lost = state;
  while (lost.lost < lostCalls) {
    const spent = chargeLost(lost.spent, worst, input.price);
    lost = { ...lost, spent, lost: lost.lost + 1 };
  }
  return lost;
}

/** Nothing is under way, so the model is to be asked. */
function isIdle({ open, question, draft }: AgentState): boolean {
  return open.length === 0 && !question && !draft;
}

function end(
  state: AgentState,
  outcome: NonNullable<AgentState['end']>['outcome'],
  reason: string,
) {
  return { ...state, end: { outcome, reason } };
}

function useResults(state: AgentState, results: readonly ToolResult[]): AgentState {
  // A result that nobody waits for is one that was told before.
  const fitting = state.open.flatMap(({ callId }) => {
    const result = results.find((each) => each.callId === callId);
    return result ? [result] : [];
  });
  if (fitting.length === 0) return state;
  const notes = fitting.map((result): Note => {
    const { callId } = result;
    return result.ok
      ? { role: 'tool', callId, ref: result.ref, size: result.size }
      : { role: 'tool', callId, text: `error: ${plain(result.error, MAX_ERROR_CHARS)}` };
  });
  const learnt = fitting.flatMap((result) => (result.ok ? [result.learnt] : []));
  return {
    ...state,
    open: state.open.filter(({ callId }) => !fitting.some((each) => each.callId === callId)),
    notes: [...state.notes, ...notes],
    facts: learnt.reduce(learn, state.facts),
  };
}

function learn(facts: Facts, { articles = [], quotes = [], available }: Learnt): Facts {
  return {
    ...facts,
    articles: newest([...facts.articles, ...articles]),
    quotes: newest([...facts.quotes, ...quotes]),
    ...(available && { available }),
  };
}

/** The last word on each article, and the newest ones of them. */
function newest<T extends KnownArticle>(all: readonly T[]): T[] {
  const last = new Map<string, T>();
  for (const each of all) {
    const name = JSON.stringify([each.supplierId, each.sku]);
    last.delete(name);
    last.set(name, each);
  }
  return [...last.values()].slice(-MAX_KNOWN);
}

type Heard = Extract<AgentEvent, { gateVersion: number }>;

function hear(state: AgentState, event: Heard): AgentState {
  const { question, ...rest } = state;
  if (question?.gate === 'question') {
    if (event.kind === 'person-decided') return state;
    const { callId, text } = question;
    const open = state.open.filter((use) => use.callId !== callId);
    if (event.kind === 'nobody-answered') {
      const note: Note = { role: 'tool', callId, text: 'error: nobody answered in time' };
      return { ...rest, open, notes: [...state.notes, note] };
    }
    const answer = { question: text, by: event.by, text: event.text.slice(0, MAX_ANSWER_CHARS) };
    const note: Note = { role: 'tool', callId, text: asData('person', { answers: [answer] }) };
    const answers = [...state.facts.answers, answer].slice(-MAX_ANSWERS);
    return { ...rest, open, notes: [...state.notes, note], facts: { ...state.facts, answers } };
  }
  const { draft } = state;
  if (!draft || event.kind === 'person-answered') return state;
  if (event.kind === 'nobody-answered') return end(rest, 'expired', 'nobody approved in time');
  if (event.decision === 'reject') return end(rest, 'rejected', `rejected by ${event.by}`);
  return { ...rest, draft: { ...draft, approved: true } };
}

/** What follows by itself: the next question is opened, an order that needs nobody is approved, the prompt is bounded. */
function settled(input: AgentInput, state: AgentState): AgentState {
  if (state.end || state.question) return state;
  const { limits } = input;
  const gateVersion = state.asked + 1;
  const ask = state.open.find(({ use }) => use.does === 'ask');
  if (ask?.use.does === 'ask') {
    const { callId, use } = ask;
    const who = limits.answerer;
    const text = plain(use.question, MAX_ANSWER_CHARS);
    const question = { gate: 'question', gateVersion, who, callId, text } as const;
    return { ...state, asked: gateVersion, question };
  }
  const { draft } = state;
  if (!draft) return isIdle(state) ? boundWindow(input, state) : state;
  if (draft.approved) return state;
  const { payable } = draft;
  if (!approvalNeeded(payable, limits)) return { ...state, draft: { ...draft, approved: true } };
  const question = { gate: 'approval', gateVersion, who: limits.approver, payable } as const;
  return { ...state, asked: gateVersion, question };
}
