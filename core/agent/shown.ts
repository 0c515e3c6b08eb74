import type { HistoryEvent } from '../history.ts';
import type { OrderId } from '../identity.ts';
import type { AgentPosition } from './contract.ts';
import { orderIdOfRequest } from './identity.ts';
import type { AgentPolicy } from './policy.ts';
import type { ReadAnswer } from './read-answer.ts';
import type { Spent } from './spend.ts';
import type { AgentState } from './state.ts';

// What is shown of a run, the same on every implementation.

/** The part of a position that follows the machine's state. */
export function shownOf(
  id: OrderId,
  { turn, spent, draft, following }: AgentState,
): Pick<AgentPosition, 'turn' | 'spent' | 'order'> {
  const order = draft && { id: orderIdOfRequest(id), started: following === true };
  return { turn, spent, ...(order && { order }) };
}

export function budgetOf({ maxTurns, maxTokens, maxNanoEur }: AgentPolicy) {
  return { maxTurns, maxTokens, maxNanoEur } satisfies AgentPosition['budget'];
}

/** The history's entry of an answer, with what it cost: the difference of what was spent. */
export function thoughtOf(
  turn: number,
  { calls }: ReadAnswer,
  before: Spent,
  after: Spent,
): HistoryEvent {
  const tools = calls.flatMap((call) => (call.ok ? [call.use.does] : []));
  const tokensOf = ({ inputTokens, outputTokens }: Spent) => inputTokens + outputTokens;
  const tokens = tokensOf(after) - tokensOf(before);
  return { type: 'thought', turn, tools, tokens, nanoEur: after.nanoEur - before.nanoEur };
}
