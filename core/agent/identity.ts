import { businessKey } from '../identity.ts';
import type { OrderId } from '../identity.ts';
import type { AgentRequest } from './request.ts';

/** What the reference of an order ends with that came of a request. */
export const ORDER_SUFFIX = '-PO';

/** A request is named as an order is: by its buyer and the buyer's reference. */
export function requestIdOf({ buyer, requestRef }: AgentRequest): OrderId {
  return { buyerId: buyer.id, orderRef: requestRef };
}

/** The one order that a request may lead to. Explicit, so that starting it twice starts it once. */
export function orderIdOfRequest({ buyerId, orderRef }: OrderId): OrderId {
  return { buyerId, orderRef: `${orderRef}${ORDER_SUFFIX}` };
}

/** The agent's run, on Temporal and in the queue's table: an order of the same name is another run. */
export function agentRunIdOf(id: OrderId): string {
  return `agent/${businessKey(id)}`;
}

/**
 * The effect key of one call of the model, or of one use of a tool: run, turn and the call's own id,
 * never the attempt. Begins with the request's business key, as an order's keys do, and cannot be one
 * of those: their next part is a revision.
 */
export function agentKey(id: OrderId, turn: number, callId?: string): string {
  const base = `${businessKey(id)}/t${turn}`;
  return callId === undefined ? `${base}/model` : `${base}/use/${encodeURIComponent(callId)}`;
}
