import type { OrderId } from '../identity.ts';
import type { Policy } from '../policy.ts';
import type { Order } from './schema.ts';

/** What a run starts with, on every implementation. Time zones are resolved here, at the edge, so that no workflow needs ICU data. */
export interface RunInput {
  order: Order;
  policy: Policy;
  /** Business revision, 1 at first; part of every effect key. */
  revision: number;
  /** When the charge is due (ISO 8601, UTC). Absent: at once. */
  chargeAt?: string;
}

export function orderIdOf(order: Order): OrderId {
  return { buyerId: order.buyer.id, orderRef: order.orderRef };
}
