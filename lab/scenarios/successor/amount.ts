import { z } from 'zod';
import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { formatMoney } from '../../../core/order/money.ts';
import type { Order, OrderLine } from '../../../core/order/schema.ts';
import { totals } from '../../../core/order/totals.ts';
import type { Outcome } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

const quoteSchema = z.object({ unitPrice: z.string() });

/** Lines whose prices only the supplier's catalogue has. */
export function linesWithoutPrices(count: number): OrderLine[] {
  return Array.from({ length: count }, (_, n) => ({
    lineId: String(n + 1),
    sku: `CH-${n + 1}`,
    name: 'Office chair',
    quantity: '2',
    unit: 'C62',
  }));
}

/** What was charged, against the sum of the prices as the catalogue has them. */
export async function judgeCharge(
  { partners, partnersUrl }: World,
  order: Order,
): Promise<{ charged: string; outcome: Outcome }> {
  const prices = new Map<string, string>();
  for (const { lineId, sku } of order.lines) {
    const { supplierId, currency } = order;
    const query = new URLSearchParams({ supplierId, sku, currency });
    const response = await fetch(new URL(`supplier/quotes?${query.toString()}`, `${partnersUrl}/`));
    prices.set(lineId, quoteSchema.parse(await response.json()).unitPrice);
  }
  const right = formatMoney(totals(order, prices).payable);
  const reference = businessKey(orderIdOf(order));
  const [charge] = await partners.effects({ reference, kind: 'charge' });
  const charged = charge?.amount ? formatMoney(charge.amount) : 'nothing';
  const outcome: Outcome =
    charged === right
      ? { verdict: 'held', counted: {} }
      : { verdict: 'broke', how: `charged ${charged} instead of ${right}`, counted: {} };
  return { charged, outcome };
}
