import { z } from 'zod';
import { parseBusinessKey } from '../../core/identity.ts';
import { currencyDigits } from '../../core/order/currency.ts';

const shortText = z.string().min(1).max(2_000);

/** The order's business key. */
const reference = shortText.refine(isBusinessKey, {
  message: 'must be an order\'s business key: "buyer/reference", each part percent-encoded',
});

const sku = z.string().min(1).max(500);

/** Fields that several partners ask for. */
export const field = {
  shortText,
  reference,
  sku,
  currency: z
    .string()
    .refine((code) => currencyDigits(code) !== undefined, 'must be a currency in use, such as EUR'),
  quantity: z.string().regex(/^\d{1,20}(\.\d{1,20})?$/, 'must be a decimal string such as "2.5"'),
};

export const money = z.strictObject({
  currency: field.currency,
  minor: z.int('must be whole minor units, such as cents').positive('must be more than nothing'),
});

/** Room for the largest order, and then some. */
export const MAX_LINES = 10_000;

function isBusinessKey(text: string): boolean {
  try {
    parseBusinessKey(text);
    return true;
  } catch {
    return false;
  }
}

/** The order that an effect key belongs to: its first two parts. */
export function referenceOfKey(key: string): string {
  return key.split('/', 2).join('/');
}
