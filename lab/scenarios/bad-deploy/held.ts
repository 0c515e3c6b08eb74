import { businessKey, orderIdOf, type OrderId } from '../../../core/identity.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { until } from '../../observe/until.ts';
import type { World } from '../../world/world.ts';

/** The partner that keeps an order waiting is asked again and again; none of the orders may give up. */
export const PATIENT = { maxAttempts: 1_000, retryMaxMs: 200 };

/** An order that stands before a step, until it is let go. */
export interface HeldOrder {
  id: OrderId;
  letGo: () => Promise<unknown>;
}

/** Submits an order that the partner has no time for yet. Returns when it stands there. */
export async function heldBefore(
  world: World,
  orderRef: string,
  at: Pick<FaultSpec, 'partner' | 'operation'>,
): Promise<HeldOrder> {
  const order = world.order(orderRef);
  const id = orderIdOf(order);
  const effect = { kind: 'status', status: 503 } as const;
  const faultId = await world.partners.setFault({ ...at, reference: businessKey(id), effect });
  await world.pipeline.submit(order, world.policy);
  await until(`${world.implementation}: ${orderRef} is kept waiting`, async () => {
    const faults = await world.partners.faults();
    const struck = faults.find((fault) => fault.faultId === faultId)?.struck ?? 0;
    return struck > 0 ? true : undefined;
  });
  return { id, letGo: () => world.partners.clearFault(faultId) };
}
