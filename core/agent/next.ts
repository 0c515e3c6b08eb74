import type { OrderId } from '../identity.ts';
import type { Order } from '../order/schema.ts';
import type { AgentOutcome } from '../steps.ts';
import { agentKey, orderIdOfRequest, requestIdOf } from './identity.ts';
import type { AgentInput } from './input.ts';
import type { Usage } from './messages.ts';
import { worstCase } from './prompt.ts';
import { formatNanoEur } from './prices.ts';
import { whatIsShort } from './spend.ts';
import type { AgentState, KnownArticle, Question } from './state.ts';
import { isReading } from './uses.ts';
import type { Reading } from './uses.ts';

/** One use of a tool that is to be made now. */
export interface ToolCall {
  callId: string;
  effectKey: string;
  use: Reading;
  /** The article that a quote is asked for, as the catalogue has it. */
  article?: KnownArticle;
}

/** What is to be done next. Whoever does it tells `absorb` what came of it. */
export type Action =
  | {
      do: 'call-model';
      turn: number;
      effectKey: string;
      /** What it uses at most. */
      worst: Usage;
    }
  | { do: 'use-tools'; turn: number; calls: ToolCall[] }
  | { do: 'ask-person'; question: Question }
  /** Starts the order, or finds it started, and follows it to its end; or has it cancelled. */
  | {
      do: 'follow-order';
      id: OrderId;
      effectKey: string;
      order: Order;
      cancel?: { by: string; reason: string };
    }
  | { do: 'end'; outcome: AgentOutcome; reason: string };

/** Pure, as `absorb` is: the two are the agent, and whoever calls them in turn carries it out. */
export function next(input: AgentInput, state: AgentState): Action {
  const { end, draft, following, cancel, question, turn } = state;
  if (end) return { do: 'end', ...end };
  const id = requestIdOf(input.request);
  if (draft && (draft.approved || following)) {
    const { callId, order } = draft;
    const effectKey = agentKey(id, turn, callId);
    const asked = cancel === undefined ? {} : { cancel };
    return { do: 'follow-order', id: orderIdOfRequest(id), effectKey, order, ...asked };
  }
  const calls = toolCalls(id, state);
  if (calls.length > 0) return { do: 'use-tools', turn, calls };
  if (question) return { do: 'ask-person', question };
  return callModel(input, state, id);
}

function toolCalls(id: OrderId, { turn, open, facts }: AgentState): ToolCall[] {
  return open.flatMap(({ callId, use }) => {
    if (!isReading(use)) return [];
    const effectKey = agentKey(id, turn, callId);
    const article =
      use.does === 'quote'
        ? facts.articles.find(
            ({ supplierId, sku }) => supplierId === use.supplierId && sku === use.sku,
          )
        : undefined;
    return [{ callId, effectKey, use, ...(article && { article }) }];
  });
}

/** The budget is looked at before the call that could pass it, never after. */
function callModel(input: AgentInput, state: AgentState, id: OrderId): Action {
  const { limits, price } = input;
  const { spent } = state;
  if (state.turn >= limits.maxTurns) {
    return exhausted(`${limits.maxTurns} turns are used up`);
  }
  const turn = state.turn + 1;
  const worst = worstCase(input, state);
  const short = whatIsShort(limits, spent, worst, price);
  if (short) {
    const { inputTokens, outputTokens, nanoEur } = spent;
    const used = `${formatNanoEur(nanoEur)} and ${inputTokens + outputTokens} tokens are spent`;
    return exhausted(`${used}, and one more call could pass the budget of ${short}`);
  }
  return { do: 'call-model', turn, effectKey: agentKey(id, turn), worst };
}

function exhausted(reason: string): Action {
  return { do: 'end', outcome: 'exhausted', reason };
}
