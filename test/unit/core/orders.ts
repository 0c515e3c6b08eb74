import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parseOrder } from '../../../core/order/parse.ts';
import type { Order } from '../../../core/order/schema.ts';

/** A valid order as plain JSON, for a test to change one thing in. */
export function plainOrder(): Record<string, unknown> & { lines: Record<string, unknown>[] } {
  const line = { lineId: '1', sku: 'CH-210', name: 'Office chair', unit: 'C62' };
  return {
    orderRef: 'PO-1',
    buyer: { id: 'city-hospital', name: 'City Hospital', email: 'buy@city-hospital.example' },
    supplierId: 'sup_881',
    currency: 'EUR',
    lines: [{ ...line, quantity: '6', unitPrice: '189.50' }],
  };
}

/** `input` as an order. Throws, with the faults, when it is none. */
export function orderFrom(input: unknown): Order {
  const result = parseOrder(input);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.order;
}

/** The bytes of a file of the repository. */
export function bytesOf(path: string): Uint8Array {
  return readFileSync(new URL(`../../../${path}`, import.meta.url));
}

const decimal = (whole: number, decimals: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: whole }), fc.nat(10 ** decimals - 1), fc.nat(2))
    .map(([before, after, zeros]) => {
      const fraction = decimals === 0 ? '' : `.${String(after).padStart(decimals, '0')}`;
      return `${'0'.repeat(zeros)}${before}${fraction}`;
    });

const positive = (whole: number, decimals: number) =>
  decimal(whole, decimals).filter((text) => /[1-9]/.test(text));

/** Text that the schema takes as it is once trimmed: letters of several scripts, markup, separators. */
const letters = fc
  .array(
    fc.constantFrom('a', 'Z', '9', ' ', 'é', 'e\u0301', '水', '/', '%', '<b>', '&', "'", '😀'),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text.trim() !== '');

/** An order as a buyer might send it: not canonical, all prices there, nothing negative in it but small discounts. */
export const plainOrderArbitrary = fc
  .record({
    orderRef: letters,
    buyer: fc.record({ id: letters, name: letters, email: fc.constant(' a.b@example.com ') }),
    supplierId: letters,
    currency: fc.constantFrom('EUR', 'USD', 'SEK'),
    lines: fc.array(
      fc.record(
        {
          sku: letters,
          name: letters,
          unit: fc.constantFrom('C62', 'KGM'),
          quantity: positive(5000, 3),
          unitPrice: decimal(5000, 4),
          priceQuantity: positive(100, 2),
          adjustments: fc.array(fc.record({ amount: decimal(10, 2), reason: letters }), {
            maxLength: 2,
          }),
        },
        { requiredKeys: ['sku', 'name', 'unit', 'quantity', 'unitPrice'] },
      ),
      { minLength: 1, maxLength: 8 },
    ),
    tax: decimal(100, 2),
    rounding: decimal(0, 2),
  })
  .map((order) => ({
    ...order,
    lines: order.lines.map((line, index) => ({ ...line, lineId: String(index + 1) })),
  }));
