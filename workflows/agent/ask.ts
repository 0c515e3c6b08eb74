import { AGENT_GATES, asGateAnswer, eventOf, judgeAnswer } from '../../core/agent/answers.ts';
import type { AgentAnswer } from '../../core/agent/contract.ts';
import type { AgentEvent } from '../../core/agent/events.ts';
import type { Question } from '../../core/agent/state.ts';
import { answerWaits } from '../../core/agent/waits.ts';
import type { DecideResult } from '../../core/contract.ts';
import type { OpenedGate } from '../../core/decisions.ts';
import { askPerson, takeAnswer } from '../gates.ts';
import type { AgentRun } from './run.ts';
import { tell } from './tell.ts';

/** Asks a person and waits until they answer, or until nobody did in time. */
export async function ask(run: AgentRun, { question }: { question: Question }): Promise<void> {
  const { gate, gateVersion, who } = question;
  const { limits } = run.input;
  run.position = { ...run.position, question };
  try {
    const { escalateTo } = limits;
    const waits = answerWaits(limits);
    const asking = { step: 'ask', gate, gateVersion, who, escalateTo, waits } as const;
    tell(run, heardOf(await askPerson(run, asking)));
  } finally {
    run.position = { ...run.position };
    delete run.position.question;
  }
}

function heardOf({ gate, gateVersion, state }: OpenedGate): AgentEvent {
  if (state.kind !== 'answered') return { kind: 'nobody-answered', gateVersion };
  return eventOf({ gate, gateVersion, by: state.by, decision: state.decision });
}

/** Takes an answer, or says why not. Called from the update's handler. */
export function take(run: AgentRun, answer: AgentAnswer): DecideResult {
  const { gates: opened, position } = run;
  const { outcome } = position;
  const state = { upcoming: AGENT_GATES, opened, ...(outcome !== undefined && { outcome }) };
  const judged = judgeAnswer(state, answer, Date.now());
  const remark = 'note' in answer ? answer.note : undefined;
  return takeAnswer(run, asGateAnswer(answer), judged, remark);
}
