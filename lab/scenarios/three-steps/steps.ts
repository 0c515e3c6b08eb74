import { businessKey, effectKey } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Partners } from '../../../partners/contract.ts';

// The same three steps for all: a price to read, and two partners who take keys and keep them for good.

const CALL = { timeoutMs: 5_000 };

export async function price({ supplier }: Partners, order: Order): Promise<void> {
  const { supplierId, currency, lines } = order;
  for (const { sku } of lines) await supplier.quote({ supplierId, currency, sku }, CALL);
}

export async function credit({ bureau }: Partners, order: Order): Promise<void> {
  const id = orderIdOf(order);
  const amount = { currency: order.currency, minor: 100 };
  const key = effectKey(id, { revision: 1, step: 'credit' });
  await bureau.enquire({ key, reference: businessKey(id), buyerId: id.buyerId, amount }, CALL);
}

export async function reserve({ warehouse }: Partners, order: Order): Promise<void> {
  const id = orderIdOf(order);
  const key = effectKey(id, { revision: 1, step: 'reserve' });
  const lines = order.lines.map(({ sku, quantity }) => ({ sku, quantity }));
  await warehouse.reserve({ key, reference: businessKey(id), lines }, CALL);
}
