import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { FaultSpec } from '../../partners/control.ts';

export type PartnerName = NonNullable<FaultSpec['partner']>;

/** The partner acts on the order's next request, and answers when it is let go. */
export function held(partner: PartnerName, operation: string, order: Order): FaultSpec {
  return {
    partner,
    operation,
    ...about(operation, order),
    times: 1,
    effect: { kind: 'hang-after' },
  };
}

/** The partner answers with `status` and does not act, `times` times or always. */
export function failing(
  partner: PartnerName,
  operation: string,
  order: Order,
  status: number,
  times?: number,
): FaultSpec {
  const limit = times === undefined ? {} : { times };
  return {
    partner,
    operation,
    ...about(operation, order),
    ...limit,
    effect: { kind: 'status', status },
  };
}

/** A quote carries no reference, so it is known by its sku. */
function about(operation: string, order: Order) {
  if (operation === 'quote') return { sku: order.lines[0]?.sku ?? '' };
  return { reference: businessKey(orderIdOf(order)) };
}
