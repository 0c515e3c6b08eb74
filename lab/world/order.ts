import type { Order } from '../../core/order/schema.ts';
import { defaultPolicy, type Policy } from '../../core/policy.ts';

/** The shared policy; only the technical waits are cut short. Days stay days. */
export const labPolicy: Policy = {
  ...defaultPolicy,
  retryInitialMs: 50,
  retryMaxMs: 1_000,
  missingDelayMs: 100,
  settleMs: 500,
  partnerTimeoutMs: 5_000,
  attemptTimeoutMs: 30_000,
  heartbeatMs: 2_000,
  workflowTaskTimeoutMs: 2_000,
};

export const CHAIRS = {
  lineId: '1',
  sku: 'CH-210',
  name: 'Office chair',
  quantity: '6',
  unit: 'C62',
  unitPrice: '189.5',
} as const;

/** Sixty chairs: above the approval limit. */
export const DEAR = [{ ...CHAIRS, quantity: '60' }];

/** A valid order of one line far below the approval limit. `world` is the buyer, so worlds don't meet on one server. */
export function labOrder(world: string, orderRef: string, changes: Partial<Order> = {}): Order {
  return {
    orderRef,
    buyer: { id: world, name: 'Lab', email: 'lab@example.org' },
    supplierId: 'sup_881',
    currency: 'EUR',
    lines: [{ ...CHAIRS }],
    ...changes,
  };
}
