import { randomBytes } from 'node:crypto';
import { parseOrder } from '../../core/order/parse.ts';
import type { Order } from '../../core/order/schema.ts';
import { defaultPolicy } from '../../core/policy.ts';
import type { Policy } from '../../core/policy.ts';

/** The shared policy with its technical waits cut short; the days of the business stay days. */
export const quickPolicy: Policy = {
  ...defaultPolicy,
  maxAttempts: 4,
  retryInitialMs: 20,
  retryMaxMs: 100,
  missingDelayMs: 20,
  settleMs: 200,
  partnerTimeoutMs: 2_000,
  attemptTimeoutMs: 20_000,
  heartbeatMs: 2_000,
};

export interface OrderShape {
  buyerId?: string;
  /** How many lines. Default 1. */
  lines?: number;
  /** Unit price of each line, in major units. Default 4.00. */
  unitPrice?: string;
  /** The sku of every line is this and the line's number. */
  sku?: string;
}

/** A valid order under a reference of its own, so that tests on one server don't meet. */
export function anOrder(shape: OrderShape = {}, fields: Partial<Order> = {}): Order {
  const { buyerId = 'acme', lines = 1, unitPrice = '4.00', sku = 'SN-' } = shape;
  const orderRef = `PO-${randomBytes(6).toString('hex')}`;
  const parsed = parseOrder({
    orderRef,
    buyer: { id: buyerId, name: 'Acme & Sons', email: 'orders@acme.example' },
    supplierId: 'sup_881',
    currency: 'EUR',
    lines: Array.from({ length: lines }, (_, n) => ({
      lineId: String(n + 1),
      sku: `${sku}${n + 1}`,
      name: `Article ${n + 1}`,
      quantity: '10',
      unit: 'NAR',
      unitPrice,
    })),
    ...fields,
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.order;
}
