import { businessKey, orderIdOf } from '../../../core/identity.ts';
import type { Order } from '../../../core/order/schema.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { LIMIT_MS } from '../../observe/until.ts';
import type { Counts } from '../../observe/effects.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

const LINES = { small: 24, full: 240 } as const;
/** The last two lines have an article of their own, so that a fault can keep them out. */
const SLOW_LINES = 2;
export const SLOW_SKU = 'OAK-300';
const PRICE_MINOR = 250;

/** As long as so many lines may take. */
export const WAIT_MS = { small: LIMIT_MS, full: 10 * LIMIT_MS } as const;

/** A run that counted deliveries instead of lines. */
export const EARLY = 'went on before every line had its price, and is stuck';

export function orderOfLines(world: World, { size }: Stage): Order {
  const count = LINES[size];
  const lines = Array.from({ length: count }, (_, n) => ({
    lineId: String(n + 1),
    sku: n < count - SLOW_LINES ? 'CH-210' : SLOW_SKU,
    name: 'Office chair',
    quantity: '1',
    unit: 'C62',
    unitPrice: '2.50',
  }));
  return world.order('PO-2026-0193', { lines });
}

/** Each effect once, and charged for every line. */
export async function judge({ partners }: World, order: Order, counts: Counts): Promise<Outcome> {
  const outcome = judgeEffects(counts, ONCE);
  if (outcome.verdict === 'cannot') return outcome;
  const counted = { ...outcome.counted, lines: order.lines.length };
  const reference = businessKey(orderIdOf(order));
  const charges = await partners.effects({ reference, kind: 'charge' });
  const charged = charges.reduce((sum, { amount }) => sum + (amount?.minor ?? 0), 0);
  if (outcome.verdict === 'held' && charged !== order.lines.length * PRICE_MINOR) {
    const how = `charged for ${charged / PRICE_MINOR} lines`;
    return { verdict: 'broke', how, counted };
  }
  return { ...outcome, counted };
}
