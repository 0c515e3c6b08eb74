import type { Order } from '../../core/order/schema.ts';
import type { Outcome } from '../../core/steps.ts';
import type { EffectKind } from '../../partners/contract.ts';

/** An order of the demo, with what must be true of it at the end. */
export interface DemoOrder {
  title: string;
  order: Order;
  outcome: Outcome;
  /** Effects as the partners must have counted them; a kind that is not named must not have happened. */
  effects: Partial<Record<EffectKind, number>>;
}

const once = { enquiry: 1, reservation: 1, charge: 1, order: 1, mail: 1 } as const;

/** The orders of the demo. `chargeOn` (YYYY-MM-DD) is the date on which the one that waits is charged. */
export function demoOrders(chargeOn: string) {
  return {
    oneLine: {
      title: 'one line',
      order: order('PO-2026-0193', [chairs(6)]),
      outcome: 'completed',
      effects: once,
    },
    manyLines: {
      title: '240 lines',
      order: order(
        'PO-2026-0240',
        Array.from({ length: 240 }, (_, n) => screws(n + 1)),
      ),
      outcome: 'completed',
      effects: once,
    },
    aboveLimit: {
      title: 'above the approval limit',
      order: order('PO-2026-0300', [chairs(80)]),
      outcome: 'completed',
      effects: once,
    },
    chargeLater: {
      title: `charge due ${chargeOn}`,
      order: { ...order('PO-2026-0412', [chairs(2)]), chargeOn, timeZone: 'Europe/Amsterdam' },
      outcome: 'completed',
      effects: once,
    },
    refused: {
      title: 'refused by the credit bureau',
      order: order('PO-2026-0513', [chairs(3)], 'refused-trading-co'),
      outcome: 'refused',
      effects: { enquiry: 1 },
    },
  } as const satisfies Record<string, DemoOrder>;
}

function order(orderRef: string, lines: Order['lines'], buyerId = 'city-hospital'): Order {
  return {
    orderRef,
    buyer: { id: buyerId, name: 'City Hospital', email: 'purchasing@city-hospital.example' },
    supplierId: 'sup_881',
    currency: 'EUR',
    lines,
  };
}

function chairs(quantity: number): Order['lines'][number] {
  const unitPrice = '189.5';
  return {
    lineId: '1',
    sku: 'CH-210',
    name: 'Office chair',
    quantity: String(quantity),
    unit: 'C62',
    unitPrice,
  };
}

function screws(n: number): Order['lines'][number] {
  const unitPrice = '1.25';
  return {
    lineId: String(n),
    sku: `SCR-${n}`,
    name: `Screws no. ${n}`,
    quantity: '2',
    unit: 'C62',
    unitPrice,
  };
}
