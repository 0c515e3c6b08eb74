import type { Pool } from 'pg';
import { AGENT_GATES, asGateAnswer, judgeAnswer } from '../../core/agent/answers.ts';
import type { AgentAnswer } from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import { checkAnswer } from '../../core/answer-shapes.ts';
import type { DecideResult } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import { answerGate } from '../gates/decide.ts';
import type { Transport } from '../transport/contract.ts';

/** Answers a question of the agent, or says yes or no to its order: the gate is as an order's. Throws a RangeError for what is no answer or too long. */
export async function answer(
  pool: Pool,
  transport: Transport,
  id: OrderId,
  given: AgentAnswer,
): Promise<DecideResult> {
  checkAnswer(given);
  const note = 'note' in given ? given.note : undefined;
  const said = { ...asGateAnswer(given), ...(note !== undefined && { note }) };
  return answerGate(pool, transport, agentRunIdOf(id), said, {
    // It may ask either, any number of times, until it ends.
    upcoming: () => AGENT_GATES,
    judge: (state, now) => judgeAnswer(state, given, now),
  });
}
