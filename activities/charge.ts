import { businessKey, effectKey } from '../core/identity.ts';
import type { Money } from '../core/order/money.ts';
import type { Payments } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';

export interface ChargeInput extends StepCall {
  amount: Money;
}

export function chargeActivities(payments: Payments) {
  return {
    /**
     * Charges the payable amount and returns the charge's id. The partner forgets keys after 24 hours,
     * its statement never, so the statement is asked first: always, because a run that was reset a week
     * later looks like a first attempt. Within the 24 hours the key alone stops a request that is still
     * on its way, so nothing has to settle.
     */
    charge: (input: ChargeInput): Promise<string> =>
      attempt(input, async ({ effect, read }) => {
        const { id, revision, amount } = input;
        const key = effectKey(id, { revision, step: 'charge' });
        const reference = businessKey(id);
        const [earlier] = await payments.findCharges({ reference, key }, read);
        if (earlier) return earlier.chargeId;
        return (await payments.charge({ key, reference, amount }, effect())).chargeId;
      }),

    /** Undoes `charge`; null when nothing was charged. */
    refund: (input: StepCall): Promise<string | null> =>
      attempt(input, async ({ effect, settle }) => {
        const { id, revision } = input;
        // "Nothing charged" is only true once no charge can land any more.
        await settle();
        const key = effectKey(id, { revision, step: 'refund' });
        const chargeKey = effectKey(id, { revision, step: 'charge' });
        const reference = businessKey(id);
        return (await payments.refund({ key, reference, chargeKey }, effect())).refundId;
      }),
  };
}
