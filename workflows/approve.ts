import type { DecideResult, Decision } from '../core/contract.ts';
import { approvalNeeded, approvalWaits, judgeDecision } from '../core/decisions.ts';
import type { GateState } from '../core/decisions.ts';
import { formatMoney } from '../core/order/money.ts';
import type { Money } from '../core/order/money.ts';
import { isBefore } from '../core/steps.ts';
import { askPerson, takeAnswer } from './gates.ts';
import { Stopped } from './run.ts';
import type { Run } from './run.ts';

const GATE = 'approval';

/** Waits for a person where the policy wants one. Throws `Stopped` when the answer is no or does not come. */
export async function approval(run: Run, payable: Money): Promise<string> {
  const { policy } = run.input;
  if (!approvalNeeded(payable, policy)) return 'within the limit';
  const { state } = await askPerson(run, {
    step: 'approve',
    gate: GATE,
    // How often this run has asked: a fix asks anew, and an answer to the old question does not count.
    gateVersion: run.gates.length + 1,
    who: policy.approver,
    escalateTo: policy.escalateTo,
    waits: approvalWaits(policy),
  });
  if (state.kind !== 'answered') {
    throw new Stopped({ kind: 'end', outcome: 'expired', reason: 'nobody answered in time' });
  }
  const { decision, by } = state;
  if (decision === 'approve') return `${formatMoney(payable)} approved by ${by}`;
  throw new Stopped({ kind: 'end', outcome: 'rejected', reason: `rejected by ${by}` });
}

/** Takes an answer, or says why not. Called from the update's handler. */
export function takeDecision(run: Run, answer: Decision): DecideResult {
  return takeAnswer(run, answer, judgeDecision(gateState(run), answer, Date.now()), answer.note);
}

function gateState({ gates, position: { version, step, outcome } }: Run): GateState {
  const mayAsk = !isBefore(version, 'approve', step);
  const ended = outcome === undefined ? {} : { outcome };
  return { upcoming: mayAsk ? [GATE] : [], opened: gates, ...ended };
}
