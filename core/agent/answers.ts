import { judgeDecision } from '../decisions.ts';
import type { GateAnswer, GateState, Judgement } from '../decisions.ts';
import type { AgentAnswer } from './contract.ts';
import type { AgentEvent } from './events.ts';

/** The gates that a run of the agent may open, any number of times until it ends. */
export const AGENT_GATES = ['question', 'approval'] as const;

/** An answer as a gate keeps it: a yes, a no, or the words. */
export function asGateAnswer(answer: AgentAnswer): GateAnswer {
  const { gate, gateVersion, by } = answer;
  return { gate, gateVersion, by, decision: 'text' in answer ? answer.text : answer.decision };
}

/** As `judgeDecision`; words are no yes or no, and a yes is no answer to a question. */
export function judgeAnswer(state: GateState, answer: AgentAnswer, now: number): Judgement {
  const judged = judgeDecision(state, asGateAnswer(answer), now);
  const fits = 'text' in answer ? answer.gate === 'question' : answer.gate === 'approval';
  if (judged.kind === 'conflict' || fits) return judged;
  const reason =
    answer.gate === 'approval'
      ? 'an approval is answered with yes or no, not with words'
      : 'a question is answered with words, not with yes or no';
  return { kind: 'conflict', conflict: 'wrong-gate', reason };
}

/** What the machine is told of an answer that a gate has taken. */
export function eventOf({ gate, gateVersion, by, decision }: GateAnswer): AgentEvent {
  if (gate === 'question') return { kind: 'person-answered', gateVersion, by, text: decision };
  const yes = decision === 'approve';
  return { kind: 'person-decided', gateVersion, by, decision: yes ? 'approve' : 'reject' };
}
