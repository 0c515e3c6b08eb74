import { z } from 'zod';
import { toDecimal } from '../../core/order/money.ts';
import { serve, type Desk } from './desk.ts';
import { fixedFraction } from './fixed.ts';
import { field, MAX_LINES, referenceOfKey } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { undoAll } from './undo.ts';

const lines = z
  .array(z.strictObject({ sku: field.sku, quantity: field.quantity, unit: field.shortText }))
  .min(1)
  .max(MAX_LINES);

/** The supplier: takes no keys, can be asked by the reference printed on the order. */
export function serveSupplier(desk: Desk): void {
  serveQuotes(desk);
  serveOrders(desk);
}

function serveQuotes(desk: Desk): void {
  serve(desk, {
    partner: 'supplier',
    operation: 'quote',
    method: 'GET',
    url: '/supplier/quotes',
    input: z.strictObject({
      supplierId: field.shortText,
      sku: field.sku,
      currency: field.currency,
      unitPrice: field.quantity.optional(),
    }),
    about: ({ sku }) => ({ skus: [sku] }),
    act: ({ sku, currency, unitPrice }) => {
      knownSku(sku);
      return { body: { unitPrice: unitPrice ?? priceOf(sku, currency) } };
    },
  });
}

function serveOrders(desk: Desk): void {
  const { books } = desk;

  serve(desk, {
    partner: 'supplier',
    operation: 'place',
    method: 'POST',
    url: '/supplier/orders',
    input: z.strictObject({
      supplierId: field.shortText,
      reference: field.reference,
      supplierReference: field.shortText,
      lines,
    }),
    about: ({ reference, supplierReference, lines }) => ({
      reference,
      key: supplierReference,
      skus: lines.map(({ sku }) => sku),
    }),
    act: ({ supplierId, reference, supplierReference, lines }) => {
      for (const { sku } of lines) knownSku(sku);
      const order = books.draft({
        partner: 'supplier',
        kind: 'order',
        reference,
        key: supplierReference,
        supplierId,
      });
      return { effects: [order], body: { supplierOrderId: order.id } };
    },
  });

  serve(desk, {
    partner: 'supplier',
    operation: 'find',
    method: 'GET',
    url: '/supplier/orders',
    input: z.strictObject({ supplierId: field.shortText, supplierReference: field.shortText }),
    about: ({ supplierReference }) => ({
      reference: referenceOfKey(supplierReference),
      key: supplierReference,
    }),
    act: ({ supplierId, supplierReference }) => {
      const made = books.madeUnder('supplier', 'order', supplierReference);
      const orders = made.filter((order) => order.supplierId === supplierId);
      return {
        body: {
          orders: orders.map(({ id }) => ({
            supplierOrderId: id,
            cancelled: books.undoOf(id) !== undefined,
          })),
        },
      };
    },
  });

  serve(desk, {
    partner: 'supplier',
    operation: 'cancel',
    method: 'POST',
    url: '/supplier/cancellations',
    input: z.strictObject({
      supplierId: field.shortText,
      supplierOrderId: field.shortText,
      reference: field.reference,
    }),
    about: ({ reference }) => ({ reference }),
    act: ({ supplierId, supplierOrderId, reference }) => {
      const order = books.find(supplierOrderId);
      if (order?.kind !== 'order' || order.supplierId !== supplierId) {
        throw new Refusal(404, 'no-such-order', `${supplierId} has no order ${supplierOrderId}`);
      }
      const { effects } = undoAll(books, [order], { kind: 'cancel', reference });
      return { effects, body: { cancelled: true } };
    },
  });
}

function knownSku(sku: string): void {
  if (sku.startsWith('UNKNOWN')) throw new Refusal(404, 'unknown-sku', `no article ${sku}`);
}

/** The catalogue's price: 1.00 to 51.00 in cents, made from the sku, in whole minor units of any currency. */
function priceOf(sku: string, currency: string): string {
  return toDecimal({ currency, minor: 100 + Math.floor(fixedFraction(sku) * 5_000) });
}
