import { approvalNeeded, approvalWaits } from '../../core/decisions.ts';
import { formatMoney } from '../../core/order/money.ts';
import type { Policy } from '../../core/policy.ts';
import { lookAtOpenGate, openGate } from '../gates/approval.ts';
import type { Asking } from '../gates/approval.ts';
import { readGates } from '../gates/read-gates.ts';
import { payableOf } from './payable.ts';
import type { StepCode } from './step.ts';

/**
 * Asks a person where the policy wants one. Each time something wakes the run, the step looks at the
 * gate's row and at which of its timers have fired: nothing is remembered in between.
 */
export const approve: StepCode = async ({ run, input, db, now }) => {
  const payable = payableOf(run);
  const { policy } = input;
  if (!approvalNeeded(payable, policy)) return { kind: 'done', detail: 'within the limit' };
  const gates = await readGates(db, run.id);
  const gate = gates.find(({ revision }) => revision === run.revision);
  if (!gate) return openGate(run, approval(policy), gates.length + 1, await now());
  switch (gate.state) {
    case 'answered':
      if (gate.decision === 'approve') {
        return { kind: 'done', detail: `${formatMoney(payable)} approved by ${gate.decidedBy}` };
      }
      return { kind: 'end', outcome: 'rejected', reason: `rejected by ${gate.decidedBy}` };
    case 'open': {
      const { expired, wait, ...looked } = await lookAtOpenGate(db, run, approval(policy), gate);
      if (!expired) return wait;
      const reason = 'nobody answered in time';
      return { kind: 'end', outcome: 'expired', reason, ...looked };
    }
    case 'expired':
    case 'withdrawn':
      // Both end the run in the same transaction, so nobody comes back here to look.
      throw new Error(`${run.id} looks at a gate that is ${gate.state}`);
    default:
      return gate.state satisfies never;
  }
};

function approval(policy: Policy): Asking {
  const { approver: who, escalateTo } = policy;
  return { gate: 'approval', step: 'approve', who, escalateTo, waits: approvalWaits(policy) };
}
