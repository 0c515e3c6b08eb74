import { z } from 'zod';
import { parseBusinessKey } from '../../core/identity.ts';
import { serve, type Desk } from './desk.ts';
import { field, money } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { undoAll } from './undo.ts';

const keptForMs = 24 * 60 * 60 * 1_000;

/** Payments: keys for 24 hours, a statement for ever. */
export function servePayments(desk: Desk): void {
  const { books } = desk;

  serve(desk, {
    partner: 'payments',
    operation: 'charge',
    method: 'POST',
    url: '/payments/charges',
    keptForMs,
    input: z.strictObject({ reference: field.reference, amount: money }),
    about: ({ reference }) => ({ reference }),
    act: ({ reference, amount }, key) => {
      const { buyerId } = parseBusinessKey(reference);
      if (buyerId.startsWith('declined')) {
        throw new Refusal(402, 'card-declined', `the card of buyer ${buyerId} was declined`);
      }
      const charge = books.draft({ partner: 'payments', kind: 'charge', reference, key, amount });
      return { effects: [charge], body: { chargeId: charge.id } };
    },
  });

  serve(desk, {
    partner: 'payments',
    operation: 'refund',
    method: 'POST',
    url: '/payments/refunds',
    keptForMs,
    input: z.strictObject({ reference: field.reference, chargeKey: field.shortText }),
    about: ({ reference }) => ({ reference }),
    act: ({ reference, chargeKey }, key) => {
      // A key that had expired may have charged twice: all of it goes back.
      const charges = books.madeUnder('payments', 'charge', chargeKey);
      const { effects, undoIds } = undoAll(books, charges, { kind: 'refund', reference, key });
      return { effects, body: { refundId: undoIds[0] ?? null } };
    },
  });

  serve(desk, {
    partner: 'payments',
    operation: 'findCharges',
    method: 'GET',
    url: '/payments/charges',
    input: z.strictObject({ reference: field.reference, key: field.shortText }),
    about: ({ reference, key }) => ({ reference, key }),
    act: ({ reference, key }) => {
      const made = books.madeUnder('payments', 'charge', key);
      const charges = made.filter((charge) => charge.reference === reference);
      return { body: { charges: charges.map(({ id }) => ({ chargeId: id })) } };
    },
  });
}
