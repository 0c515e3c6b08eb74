import { initialState } from '../../../core/agent/state.ts';
import type { AgentState, KnownQuote } from '../../../core/agent/state.ts';
import { absorb } from '../../../core/agent/absorb.ts';
import type { AgentEvent } from '../../../core/agent/events.ts';
import { toAgentAsk } from '../../../core/agent/input.ts';
import type { AgentAsk, AgentInput } from '../../../core/agent/input.ts';
import { takeUp } from '../../../core/agent/take-up.ts';
import { defaultAgentPolicy } from '../../../core/agent/policy.ts';
import type { AgentPolicy } from '../../../core/agent/policy.ts';
import { priceOf } from '../../../core/agent/prices.ts';
import { parseRequest } from '../../../core/agent/request.ts';
import type { ReadCall } from '../../../core/agent/read-answer.ts';
import type { Ref } from '../../../core/agent/store.ts';
import type { ToolUse } from '../../../core/agent/uses.ts';
import { defaultPolicy } from '../../../core/policy.ts';

export const REQUEST = '40 office chairs under 200 euro each, delivered in Utrecht by 12 January';
export const ref: Ref = `sha256-${'0'.repeat(64)}`;

/** The input of a run with this request, under the default limits but for those given. */
export function inputOf(
  words = REQUEST,
  limits: Partial<AgentPolicy> = {},
  buyerId = 'acme',
): AgentInput {
  return takeUp(askOf(words, limits, buyerId), '1');
}

/** The same as it is asked. */
export function askOf(
  words = REQUEST,
  limits: Partial<AgentPolicy> = {},
  buyerId = 'acme',
): AgentAsk {
  const parsed = parseRequest({
    requestRef: 'REQ-1',
    buyer: { id: buyerId, name: 'Acme', email: 'buyer@acme.example' },
    text: words,
    currency: 'EUR',
  });
  const price = priceOf('scripted-1');
  if (!parsed.ok || !price) throw new Error('a request of the tests must be one');
  return toAgentAsk({
    request: parsed.request,
    limits: { ...defaultAgentPolicy, ...limits },
    policy: defaultPolicy,
    model: 'scripted-1',
    price,
  });
}

/** An answer of the model with these calls, as it is heard of. */
export function answered(
  turn: number,
  calls: ReadCall[],
  more: Partial<Extract<AgentEvent, { kind: 'model-answered' }>> = {},
): AgentEvent {
  const answer = {
    finish: 'tool-calls' as const,
    text: '',
    calls,
    ignoredCalls: 0,
    usage: { inputTokens: 400, outputTokens: 40 },
  };
  const entry = { ref, size: 300, answerSize: 200 };
  return { kind: 'model-answered', turn, answer, entry, ...more };
}

export function wants(callId: string, use: ToolUse): ReadCall {
  return { callId, ok: true, use };
}

export const chair: KnownQuote = {
  supplierId: 'sup_881',
  sku: 'CHAIR-1',
  name: 'chair',
  unit: 'NAR',
  unitPrice: '20',
};

/** What follows one after the other from the beginning. */
export function after(input: AgentInput, ...events: AgentEvent[]): AgentState {
  return events.reduce((state, event) => absorb(input, state, event), initialState());
}

/** A run that has found a chair, knows its price and how much money there is. */
export function informed(input: AgentInput, availableMinor = 5_000_000): AgentState {
  const available = { currency: 'EUR', minor: availableMinor };
  const learnt = { articles: [chair], quotes: [chair], available };
  return after(input, answered(1, [wants('a', { does: 'search', query: 'chairs' })]), {
    kind: 'tools-used',
    turn: 1,
    results: [{ callId: 'a', ok: true, ref, size: 200, learnt }],
  });
}

export function submits(turn: number, quantity: string, sku = chair.sku): AgentEvent {
  const { supplierId } = chair;
  return answered(turn, [wants('s', { does: 'submit', supplierId, lines: [{ sku, quantity }] })]);
}
