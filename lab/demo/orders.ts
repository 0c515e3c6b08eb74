import type { Implementation } from '../../core/contract.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Outcome } from '../../core/steps.ts';
import type { EffectKind } from '../../partners/contract.ts';
import type { World } from '../world/world.ts';

/** What must be true of an order at the end. */
export interface Expected {
  /** Undefined where the implementation cannot say. */
  outcome: Outcome | undefined;
  /** Effects as the partners must have counted them; a kind that is not named must not have happened. */
  effects: Partial<Record<EffectKind, number>>;
  /** What the table says of it. */
  verdict: string;
}

export interface DemoOrder {
  title: string;
  order: Order;
  on: Record<Implementation, Expected>;
}

const once = { enquiry: 1, reservation: 1, charge: 1, order: 1, mail: 1 } as const;

/** The same on both implementations that hold, something else on the chain. */
function expect(effects: Expected['effects'], outcome: Outcome, chain: Omit<Expected, 'outcome'>) {
  const held: Expected = { outcome, effects, verdict: 'held' };
  return { queue: held, temporal: held, chain: { outcome: undefined, ...chain } };
}

export type DemoOrders = ReturnType<typeof ordersFor>;

/** The orders of the demo. `chargeOn` (YYYY-MM-DD) is the date on which the one that waits is charged. */
export function ordersFor(world: World, chargeOn: string) {
  const order = (orderRef: string, changes: Partial<Order>) => world.order(orderRef, changes);
  const manyLines = Array.from({ length: 240 }, (_, n) => screws(n + 1));
  return {
    oneLine: {
      title: 'one line; its worker is killed',
      order: order('PO-2026-0193', {}),
      on: expect(once, 'completed', {
        effects: { ...once, order: 2 },
        verdict: 'broke: placed twice',
      }),
    },
    manyLines: {
      title: '240 lines',
      order: order('PO-2026-0240', { lines: manyLines }),
      on: expect(once, 'completed', { effects: once, verdict: 'held' }),
    },
    aboveLimit: {
      title: 'above the approval limit',
      order: order('PO-2026-0300', { lines: [chairs('80')] }),
      on: expect(once, 'completed', {
        effects: { enquiry: 1 },
        verdict: 'cannot wait for a person',
      }),
    },
    chargeLater: {
      title: `charge due ${chargeOn}`,
      order: order('PO-2026-0412', {
        lines: [chairs('2')],
        chargeOn,
        timeZone: 'Europe/Amsterdam',
      }),
      on: expect(once, 'completed', {
        effects: { enquiry: 1, reservation: 1 },
        verdict: 'still out, 15 min at a time',
      }),
    },
    refused: {
      title: 'refused by the credit bureau',
      order: order('PO-2026-0513', {
        buyer: { id: `refused-${world.name}`, name: 'Refused', email: 'lab@example.org' },
      }),
      on: expect({ enquiry: 1 }, 'refused', { effects: { enquiry: 1 }, verdict: 'held' }),
    },
  } as const satisfies Record<string, DemoOrder>;
}

function chairs(quantity: string): Order['lines'][number] {
  return {
    lineId: '1',
    sku: 'CH-210',
    name: 'Office chair',
    quantity,
    unit: 'C62',
    unitPrice: '189.5',
  };
}

function screws(n: number): Order['lines'][number] {
  return {
    lineId: String(n),
    sku: `SCR-${n}`,
    name: `Screws no. ${n}`,
    quantity: '2',
    unit: 'C62',
    unitPrice: '1.25',
  };
}
