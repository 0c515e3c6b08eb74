import { z } from 'zod';
import { orderLimits } from '../policy.ts';
import { refuseDuplicateLines, refuseFractionsOfMinorUnits, refuseWrongTotals } from './rules.ts';
import {
  calendarDate,
  currencyCode,
  decimal,
  email,
  identifier,
  text,
  zoneName,
  orderIdentifier,
} from './text.ts';

const adjustment = z.strictObject({
  /** Signed, in major units: a discount is negative. */
  amount: decimal('any'),
  reason: text(200),
});

/** An empty list and a missing one are the same order, and must be the same JSON. */
const adjustments = z.array(adjustment).max(100).exactOptional();

export const lineSchema = z
  .strictObject({
    lineId: identifier(),
    sku: identifier(100),
    name: text(300),
    quantity: decimal('positive'),
    /** UN/ECE Recommendation 20 unit code as the buyer wrote it. */
    unit: identifier(20),
    /** Net price of `priceQuantity` units. Without one, the supplier is asked. */
    unitPrice: decimal('not-negative').exactOptional(),
    /** UBL BaseQuantity: the price is for this many units. One unless given. */
    priceQuantity: decimal('positive').exactOptional(),
    adjustments,
  })
  .overwrite(({ adjustments, priceQuantity, ...line }) => ({
    ...line,
    ...(priceQuantity === undefined || priceQuantity === '1' ? {} : { priceQuantity }),
    ...(adjustments === undefined || adjustments.length === 0 ? {} : { adjustments }),
  }));

const fields = z.strictObject({
  orderRef: orderIdentifier,
  buyer: z.strictObject({ id: orderIdentifier, name: text(200), email }),
  supplierId: identifier(),
  currency: currencyCode,
  lines: z
    .array(lineSchema)
    .min(1)
    .max(orderLimits.maxLines)
    // Also with other faults around: a duplicate is worth naming in the same answer.
    .superRefine(refuseDuplicateLines, { when: ({ value }) => Array.isArray(value) }),
  adjustments,
  tax: decimal('not-negative').exactOptional(),
  prepaid: decimal('not-negative').exactOptional(),
  rounding: decimal('any').exactOptional(),
  statedTotal: decimal('not-negative').exactOptional(),
  chargeOn: calendarDate.exactOptional(),
  timeZone: zoneName.exactOptional(),
});

/** A valid order in canonical form: decimals without superfluous zeros, text in NFC, so that equal orders are equal JSON. */
export type Order = z.infer<typeof fields>;
export type OrderLine = z.infer<typeof lineSchema>;

/**
 * The rules of an order and its canonical form. What comes from outside goes through `parseOrder`,
 * which adds the two checks that need more than the order: the time zone's existence and the size.
 */
export const orderSchema = fields
  .superRefine(refuseFractionsOfMinorUnits, { when: () => true })
  .superRefine(refuseWrongTotals, { when: ({ issues }) => issues.length === 0 })
  .overwrite(({ adjustments, tax, prepaid, rounding, ...order }) => ({
    ...order,
    ...(adjustments === undefined || adjustments.length === 0 ? {} : { adjustments }),
    ...(tax === undefined || tax === '0' ? {} : { tax }),
    ...(prepaid === undefined || prepaid === '0' ? {} : { prepaid }),
    ...(rounding === undefined || rounding === '0' ? {} : { rounding }),
  }));
