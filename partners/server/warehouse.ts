import { z } from 'zod';
import { serve, type Desk } from './desk.ts';
import { field, MAX_LINES } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { undoAll } from './undo.ts';

const lines = z
  .array(z.strictObject({ sku: field.sku, quantity: field.quantity }))
  .min(1)
  .max(MAX_LINES);

/** The warehouse: keeps keys for good. */
export function serveWarehouse(desk: Desk): void {
  const { books } = desk;

  serve(desk, {
    partner: 'warehouse',
    operation: 'reserve',
    method: 'POST',
    url: '/warehouse/reservations',
    keptForMs: Infinity,
    input: z.strictObject({ reference: field.reference, lines }),
    about: ({ reference, lines }) => ({ reference, skus: lines.map(({ sku }) => sku) }),
    act: ({ reference, lines }, key) => {
      const missing = lines.find(({ sku }) => sku.startsWith('NOSTOCK'));
      if (missing) throw new Refusal(409, 'out-of-stock', `${missing.sku} is out of stock`);
      const reservation = books.draft({
        partner: 'warehouse',
        kind: 'reservation',
        reference,
        key,
      });
      return { effects: [reservation], body: { reservationId: reservation.id } };
    },
  });

  serve(desk, {
    partner: 'warehouse',
    operation: 'release',
    method: 'POST',
    url: '/warehouse/releases',
    keptForMs: Infinity,
    input: z.strictObject({ reference: field.reference, reservationKey: field.shortText }),
    about: ({ reference }) => ({ reference }),
    act: ({ reference, reservationKey }, key) => {
      const reserved = books.madeUnder('warehouse', 'reservation', reservationKey);
      const { effects, undoIds } = undoAll(books, reserved, { kind: 'release', reference, key });
      return { effects, body: { released: undoIds.length > 0 } };
    },
  });
}
