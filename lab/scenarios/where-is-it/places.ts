import type { Position } from '../../../core/contract.ts';
import { businessKey, orderIdOf, type OrderId } from '../../../core/identity.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Status, Step } from '../../../core/steps.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { until, untilPosition } from '../../observe/until.ts';
import { CHAIRS, DEAR } from '../../world/order.ts';
import type { World } from '../../world/world.ts';

/** Where an order can be made to stand, from the outside, with no worker kept busy by it. */
export interface Place {
  /** The step it should be found at. */
  step: Step;
  /** Short, part of the reference: `CREDIT`. */
  name: string;
  /** Where nobody is to be asked again: it waits, or has ended. */
  status?: Status;
  order?: Partial<Order>;
  /** What a partner answers with "come back in an hour". */
  busy?: Pick<FaultSpec, 'partner' | 'operation'>;
}

const SLOW_SKU = 'SLOW-1';
const DAY_MS = 86_400_000;

/** Every place but the first, where no worker has been yet. */
export const PLACES: readonly Place[] = [
  {
    step: 'price',
    name: 'PRICE',
    order: { lines: [{ ...CHAIRS, sku: SLOW_SKU }] },
  },
  {
    step: 'credit',
    name: 'CREDIT',
    busy: { partner: 'bureau', operation: 'enquire' },
  },
  {
    step: 'screen',
    name: 'SCREEN',
    busy: { partner: 'bureau', operation: 'screen' },
  },
  {
    step: 'approve',
    name: 'APPROVE',
    status: 'waiting',
    order: { lines: DEAR },
  },
  {
    step: 'reserve',
    name: 'RESERVE',
    busy: { partner: 'warehouse', operation: 'reserve' },
  },
  {
    step: 'charge',
    name: 'CHARGE',
    status: 'waiting',
    order: { chargeOn: new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10) },
  },
  {
    step: 'place',
    name: 'PLACE',
    busy: { partner: 'supplier' },
  },
  {
    step: 'invoice',
    name: 'INVOICE',
    busy: { partner: 'mailer' },
  },
  { step: 'close', name: 'CLOSE', status: 'ended' },
];

/** Submitted when no worker is left. */
export const NEW: Place = { step: 'validate', name: 'NEW' };

/** An order and the place where it was made to stand. */
export interface Placed {
  order: Order;
  id: OrderId;
  place: Place;
}

/** `count` orders of the world, spread over `places`, none of them submitted yet. */
export function placedOrders(world: World, places: readonly Place[], count: number): Placed[] {
  return Array.from({ length: count }, (_, at) => {
    const place = places[at % places.length];
    if (!place) throw new Error('no place to stand at');
    const order = world.order(`PO-${place.name}-${at + 1}`, place.order ?? {});
    return { order, id: orderIdOf(order), place };
  });
}

/** Sets what keeps the orders where they are. A quote names no order, so those are kept by their article. */
export async function keepThere({ partners }: World, placed: readonly Placed[]): Promise<void> {
  const effect = { kind: 'status', status: 503, retryAfter: 3_600 } as const;
  await partners.setFault({ partner: 'supplier', operation: 'quote', sku: SLOW_SKU, effect });
  for (const { id, place } of placed) {
    if (place.busy) {
      await partners.setFault({ ...place.busy, reference: businessKey(id), effect });
    }
  }
}

/** Waits until every order has got where it is to stand, by what the partners have refused and done. */
export async function untilThere(world: World, placed: readonly Placed[]): Promise<void> {
  const { partners, name } = world;
  const at = (where: string) => placed.filter(({ place }) => place.name === where).length;
  await until(
    'every order at its place',
    async () => {
      const faults = await partners.faults();
      const [quotes, ...others] = faults;
      const refused = others.every(({ struck }) => struck > 0);
      const { mail } = await partners.counts({ buyerId: name });
      const there = refused && (quotes?.struck ?? 0) >= at('PRICE') && mail >= at('CLOSE');
      return there ? true : undefined;
    },
    300_000,
  );
  if (world.implementation === 'chain') return;
  // What follows the last thing that a partner sees: a gate is opened, a date waited for, the run closed.
  for (const { id, place } of placed) {
    await untilPosition(world, id, (position) => standsAt(position, place));
  }
}

/** Whether an order is said to be where it was made to stand. */
export function standsAt({ step, status }: Position, place: Place): boolean {
  return step === place.step && (place.status === undefined || status === place.status);
}
