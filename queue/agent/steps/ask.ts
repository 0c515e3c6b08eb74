import { absorb } from '../../../core/agent/absorb.ts';
import { eventOf } from '../../../core/agent/answers.ts';
import type { AgentEvent } from '../../../core/agent/events.ts';
import { next } from '../../../core/agent/next.ts';
import type { AgentPolicy } from '../../../core/agent/policy.ts';
import type { Question } from '../../../core/agent/state.ts';
import { answerWaits } from '../../../core/agent/waits.ts';
import { lookAtOpenGate, openGate } from '../../gates/approval.ts';
import type { Asking } from '../../gates/approval.ts';
import { readGates } from '../../gates/read-gates.ts';
import type { GateRow } from '../../gates/read-gates.ts';
import { follow, stateOf } from '../follow.ts';
import type { AgentStepCode } from '../follow.ts';

/** Asks a person: for words, or for a yes to the order. The gate is the order's, with other waits. */
export const ask: AgentStepCode = async ({ run, input, db, now }) => {
  const state = stateOf(run);
  const action = next(input, state);
  if (action.do !== 'ask-person') return follow(input, state);
  const { question } = action;
  const { gateVersion } = question;
  const asking = askingOf(question, input.limits);
  const gates = await readGates(db, run.id);
  const gate = gates.find(
    (each) => each.gate === question.gate && each.gateVersion === gateVersion,
  );
  if (!gate) return openGate(run, asking, gateVersion, await now());
  switch (gate.state) {
    case 'answered':
      return follow(input, absorb(input, state, answerOf(gate)));
    case 'open': {
      const { expired, wait, ...looked } = await lookAtOpenGate(db, run, asking, gate);
      if (!expired) return wait;
      return follow(input, absorb(input, state, { kind: 'nobody-answered', gateVersion }), looked);
    }
    case 'expired':
    case 'withdrawn':
      // Both take the question out of the state in the same transaction.
      throw new Error(`${run.id} looks at a gate that is ${gate.state}`);
    default:
      return gate.state satisfies never;
  }
};

function askingOf({ gate, who }: Question, limits: AgentPolicy): Asking {
  const { escalateTo } = limits;
  return { gate, step: 'ask', who, escalateTo, waits: answerWaits(limits) };
}

function answerOf({ gate, gateVersion, decision, decidedBy }: GateRow): AgentEvent {
  return eventOf({ gate, gateVersion, by: decidedBy ?? 'somebody', decision: decision ?? '' });
}
