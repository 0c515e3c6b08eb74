import type { Order } from '../../../core/order/schema.ts';
import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import type { World } from '../../world/world.ts';

/** Two lines, so that their order matters. */
export function twoLines(world: World, orderRef: string): Order {
  const line = { name: 'Chair', quantity: '2', unit: 'C62' };
  return world.order(orderRef, {
    lines: [
      { ...line, lineId: '1', sku: 'CH-210', unitPrice: '40' },
      { ...line, lineId: '2', sku: 'CH-211', unitPrice: '50' },
    ],
  });
}

/** The partner acts on the order's requests and the first answer to each is lost. */
export async function loseAnswers(
  { partners }: World,
  order: Order,
  operations: readonly string[],
): Promise<void> {
  const reference = businessKey(orderIdOf(order));
  for (const operation of operations) {
    await partners.setFault({ operation, reference, times: 1, effect: { kind: 'drop-after' } });
  }
}

/** What is wrong with the effects of an order that has ended; undefined when each is there once. */
export async function wrongEffects({ partners }: World, order: Order): Promise<string | undefined> {
  const counts = await partners.counts(businessKey(orderIdOf(order)));
  const judged = judgeEffects(counts, ONCE);
  return judged.verdict === 'broke' ? judged.how : undefined;
}
