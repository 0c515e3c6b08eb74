import { z } from 'zod';
import { serve, type Desk } from './desk.ts';
import { fixedFraction } from './fixed.ts';
import { field, money } from './inputs.ts';

/** The credit bureau, which also knows the sanctions lists: keeps keys for good, since every answer is paid for. */
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

  serve(desk, {
    partner: 'bureau',
    operation: 'screen',
    method: 'POST',
    url: '/bureau/screenings',
    keptForMs: Infinity,
    input: z.strictObject({
      reference: field.reference,
      buyerId: field.shortText,
      name: field.shortText,
    }),
    about: ({ reference }) => ({ reference }),
    act: ({ reference, buyerId }, key) => {
      const screening = desk.books.draft({ partner: 'bureau', kind: 'screening', reference, key });
      const listed = buyerId.startsWith('sanctioned') ? 'EU-833' : null;
      return { effects: [screening], body: { screeningId: screening.id, listed } };
    },
  });
}

/** 0 to 1000, the same for a buyer every time: 100 for `refused…`, otherwise a good one. */
function scoreOf(buyerId: string): number {
  return buyerId.startsWith('refused') ? 100 : 500 + Math.floor(fixedFraction(buyerId) * 450);
}
