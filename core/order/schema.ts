import { z } from 'zod';
import { MAX_ID_LENGTH } from '../identity.ts';

// Outline that fixes the shape; the rules on each field are filled in with their tests.
const decimal = z.string();

const adjustment = z.strictObject({ amount: decimal, reason: z.string() });

export const lineSchema = z.strictObject({
  lineId: z.string(),
  sku: z.string(),
  name: z.string(),
  quantity: decimal,
  /** UN/ECE Recommendation 20 unit code as the buyer wrote it. */
  unit: z.string(),
  /** Net price of `priceQuantity` units. Without one, the supplier is asked. */
  unitPrice: decimal.optional(),
  /** UBL BaseQuantity: the price is for this many units. One unless given. */
  priceQuantity: decimal.optional(),
  adjustments: z.array(adjustment).optional(),
});

export const orderSchema = z.strictObject({
  orderRef: z.string().min(1).max(MAX_ID_LENGTH),
  buyer: z.strictObject({
    id: z.string().min(1).max(MAX_ID_LENGTH),
    name: z.string(),
    email: z.string(),
  }),
  supplierId: z.string(),
  currency: z.string(),
  lines: z.array(lineSchema),
  adjustments: z.array(adjustment).optional(),
  tax: decimal.optional(),
  prepaid: decimal.optional(),
  rounding: decimal.optional(),
  statedTotal: decimal.optional(),
  chargeOn: z.string().optional(),
  timeZone: z.string().optional(),
});

export type OrderLine = z.infer<typeof lineSchema>;
/** A valid order in canonical form: decimals without superfluous zeros, text in NFC, so that equal orders are equal JSON. */
export type Order = z.infer<typeof orderSchema>;
