import { z } from 'zod';
import { serve, type Desk } from './desk.ts';
import { fixedFraction } from './fixed.ts';
import { field, money } from './inputs.ts';

/** The credit bureau: keeps keys for good, since an enquiry is paid for. */
export function serveBureau(desk: Desk): void {
  serve(desk, {
    partner: 'bureau',
    operation: 'enquire',
    method: 'POST',
    url: '/bureau/enquiries',
    keptForMs: Infinity,
    input: z.strictObject({
      reference: field.reference,
      buyerId: field.shortText,
      // An order that prepayments cover comes to nothing and is enquired about all the same.
      amount: money.extend({ minor: z.int().nonnegative() }),
    }),
    about: ({ reference }) => ({ reference }),
    act: ({ reference, buyerId }, key) => {
      const enquiry = desk.books.draft({ partner: 'bureau', kind: 'enquiry', reference, key });
      return { effects: [enquiry], body: { enquiryId: enquiry.id, score: scoreOf(buyerId) } };
    },
  });
}

/** 0 to 1000, the same for a buyer every time: 100 for `refused…`, otherwise a good one. */
function scoreOf(buyerId: string): number {
  return buyerId.startsWith('refused') ? 100 : 500 + Math.floor(fixedFraction(buyerId) * 450);
}
