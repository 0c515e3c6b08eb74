import type { Order } from './order/schema.ts';
import type { Step } from './steps.ts';

/** An order reference is unique for one buyer only (two buyers both send order "1"), so both parts name an order. */
export interface OrderId {
  buyerId: string;
  orderRef: string;
}

export function orderIdOf(order: Order): OrderId {
  return { buyerId: order.buyer.id, orderRef: order.orderRef };
}

/** Longest buyer id and order reference, in UTF-16 units. */
export const MAX_ID_LENGTH = 50;

/**
 * Longest each of them may be once it is percent-encoded: a letter of the Latin alphabet counts one,
 * most others six or nine. Temporal's own schema on Postgres and MySQL keeps workflow ids in 255
 * characters, and `order/`, two parts, and a child's suffix have to fit.
 */
export const MAX_ENCODED_ID_LENGTH = 110;

/**
 * The two parts as one string, `buyer/ref`, each percent-encoded, so that a slash inside a part
 * can't make two orders one. At most 221 characters for a valid order; throws URIError on a lone
 * surrogate, which the order schema refuses before.
 */
export function businessKey({ buyerId, orderRef }: OrderId): string {
  return `${encodeURIComponent(buyerId)}/${encodeURIComponent(orderRef)}`;
}

/** The reverse of `businessKey`. Throws a RangeError when `key` is not two encoded parts. */
export function parseBusinessKey(key: string): OrderId {
  const [buyer, ref, ...rest] = key.split('/');
  const wrong = () => new RangeError(`not a "buyer/reference": ${key}`);
  if (!buyer || !ref || rest.length > 0) throw wrong();
  try {
    return { buyerId: decodeURIComponent(buyer), orderRef: decodeURIComponent(ref) };
  } catch {
    throw wrong();
  }
}

/** The Temporal workflow id of an order. The queue's run id is the business key alone: there is nothing else in its table. */
export function runIdOf(id: OrderId): string {
  return `order/${businessKey(id)}`;
}

/** What an effect key is made of besides the order: nothing of the attempt, the delivery or the Temporal run. */
export interface EffectOf {
  /** The business revision; raised only by a fix, after the old key is settled or voided. */
  revision: number;
  step: Step | 'release' | 'refund' | 'cancel';
  lineId?: string;
}

/** The effect key: the same for every attempt, delivery, worker, reset and implementation. */
export function effectKey(id: OrderId, { revision, step, lineId }: EffectOf): string {
  const base = `${businessKey(id)}/r${revision}/${step}`;
  return lineId === undefined ? base : `${base}/${encodeURIComponent(lineId)}`;
}
