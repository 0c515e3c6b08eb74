import { businessKey, effectKey } from '../core/identity.ts';
import type { Money } from '../core/order/money.ts';
import type { Bureau } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';

export interface CreditInput extends StepCall {
  amount: Money;
}

export function creditActivities(bureau: Bureau) {
  return {
    /** The bureau's score of the buyer, 0 to 1000. Each enquiry costs money; the bureau keeps keys for good. */
    credit: (input: CreditInput): Promise<number> =>
      attempt(input, async ({ effect }) => {
        const { id, revision, amount } = input;
        const enquiry = await bureau.enquire(
          {
            key: effectKey(id, { revision, step: 'credit' }),
            reference: businessKey(id),
            buyerId: id.buyerId,
            amount,
          },
          effect(),
        );
        return enquiry.score;
      }),
  };
}
