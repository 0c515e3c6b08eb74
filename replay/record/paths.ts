import type { Client } from '@temporalio/client';
import { runIdOf, type OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { FaultSpec } from '../../partners/control.ts';
import type { World } from '../../lab/world/world.ts';
import { STAGES, type Stage } from '../stages.ts';
import { failing, held, type PartnerName } from './faults.ts';
import {
  anOrder,
  answer,
  cancel,
  day,
  heldRequest,
  large,
  resetToStart,
  stuck,
  waiting,
} from './moves.ts';

/** One way through the purchase order, recorded from a real run of it. */
export interface RunPath {
  name: string;
  /** Absent: every stage has it. */
  since?: Stage;
  order: () => Order;
  /** Faults that are there before the order is submitted. */
  faults?: (order: Order) => FaultSpec[];
  /** What happens between submit and end. */
  happens?: (world: World, id: OrderId, client: Client) => Promise<void>;
  /** What happens before any worker runs. */
  beforeWorkers?: (world: World, id: OrderId) => Promise<void>;
  /** Children to record too, by the end of their workflow id. */
  children?: readonly string[];
}

const inDays = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const chargedLater = (name: string) => anOrder(name, { chargeOn: inDays(25) });
const operator = { by: 'Ops', why: 'seen to' };

/** Every path, the ones that need no worker at first at the front. */
const paths: readonly RunPath[] = [
  {
    name: 'cancelled-before-any-worker',
    order: () => anOrder('cancelled-before-any-worker'),
    beforeWorkers: cancel,
  },
  { name: 'plain', order: () => anOrder('plain') },
  { name: '240-lines', order: () => anOrder('240-lines', {}, 240) },
  // The first child is like the 240 lines; the second has one line.
  { name: '251-lines', order: () => anOrder('251-lines', {}, 251, '1.00'), children: ['/lines/1'] },
  {
    name: 'approved',
    order: () => large('approved'),
    async happens(world, id) {
      await waiting(world, id);
      await answer(world, id, 'approve');
    },
  },
  {
    name: 'approved-among-wrong-answers',
    order: () => large('approved-among-wrong-answers'),
    faults: (order) => [held('bureau', 'enquire', order)],
    async happens(world, id) {
      const { faultId } = await heldRequest(world, id);
      await answer(world, id, 'approve');
      await world.partners.clearFault(faultId);
      await waiting(world, id);
      await answer(world, id, 'approve', { gate: 'budget' });
      await answer(world, id, 'approve', { gateVersion: 2 });
      await answer(world, id, 'approve', { note: 'checked' });
      await answer(world, id, 'reject', { by: 'Bob' });
    },
  },
  {
    name: 'rejected',
    order: () => large('rejected'),
    async happens(world, id) {
      await waiting(world, id);
      await answer(world, id, 'reject');
    },
  },
  {
    name: 'reminded-escalated-approved',
    order: () => large('reminded-escalated-approved'),
    async happens(world, id) {
      await waiting(world, id);
      await world.forward(id, 2 * day + 1_000);
      await waiting(world, id, world.policy.escalateTo);
      await answer(world, id, 'approve');
    },
  },
  {
    name: 'expired',
    order: () => large('expired'),
    async happens(world, id) {
      await waiting(world, id);
      await world.forward(id, 6 * day);
    },
  },
  {
    name: 'charged-later',
    order: () => chargedLater('charged-later'),
    async happens(world, id) {
      await waiting(world, id);
      await world.forward(id, 26 * day);
    },
  },
  cancelledWhile('price', 'supplier', 'quote'),
  cancelledWhile('credit', 'bureau', 'enquire'),
  { ...cancelledWhile('screen', 'bureau', 'screen'), since: 'patched' },
  cancelledWhile('reserve', 'warehouse', 'reserve'),
  cancelledWhile('charge', 'payments', 'charge'),
  cancelledWhile('place', 'supplier', 'place'),
  // Too late: the invoice may be out.
  cancelledWhile('invoice', 'mailer', 'send'),
  {
    name: 'cancelled-at-approve',
    order: () => large('cancelled-at-approve'),
    async happens(world, id) {
      await waiting(world, id);
      await cancel(world, id);
    },
  },
  {
    name: 'cancelled-in-temporal',
    order: () => large('cancelled-in-temporal'),
    async happens(world, id, client) {
      await waiting(world, id);
      await client.workflow.getHandle(runIdOf(id)).cancel();
    },
  },
  {
    name: 'reset-to-the-start',
    order: () => large('reset-to-the-start'),
    async happens(world, id, client) {
      await waiting(world, id);
      await resetToStart(client, id);
      await waiting(world, id);
      await answer(world, id, 'approve');
    },
  },
  {
    name: 'reset-and-cancelled',
    order: () => large('reset-and-cancelled'),
    async happens(world, id, client) {
      await waiting(world, id);
      await resetToStart(client, id);
      await waiting(world, id);
      await cancel(world, id);
    },
  },
  {
    name: 'cancelled-before-the-charge-date',
    order: () => chargedLater('cancelled-before-the-charge-date'),
    async happens(world, id) {
      await waiting(world, id);
      await cancel(world, id);
    },
  },
  {
    name: 'refused-by-the-bureau',
    order: () => anOrder('refused-by-the-bureau', { buyer: buyer('refused') }),
  },
  {
    name: 'on-a-sanctions-list',
    since: 'patched',
    order: () => anOrder('on-a-sanctions-list', { buyer: buyer('sanctioned') }),
  },
  {
    name: 'card-declined',
    order: () => anOrder('card-declined', { buyer: buyer('declined') }),
  },
  {
    name: 'refused-by-the-supplier-refund-replayed',
    order: () => anOrder('refused-by-the-supplier-refund-replayed'),
    faults: (order) => [
      failing('supplier', 'place', order, 422),
      failing('payments', 'refund', order, 400, 1),
    ],
    async happens(world, id) {
      await stuck(world, id);
      await world.pipeline.deadLetters.replay(id, operator);
    },
  },
  {
    name: 'partner-busy',
    order: () => anOrder('partner-busy'),
    faults: (order) => [failing('payments', 'charge', order, 503, 2)],
  },
  {
    name: 'stuck-replayed',
    order: () => anOrder('stuck-replayed'),
    faults: (order) => [failing('payments', 'charge', order, 400, 1)],
    async happens(world, id) {
      await stuck(world, id);
      await world.pipeline.deadLetters.replay(id, operator);
    },
  },
  {
    name: 'stuck-discarded',
    order: () => anOrder('stuck-discarded'),
    faults: (order) => [failing('payments', 'charge', order, 400, 1)],
    async happens(world, id) {
      await stuck(world, id);
      await world.pipeline.deadLetters.discard(id, operator);
    },
  },
  {
    name: 'stuck-fixed',
    order: () => anOrder('stuck-fixed'),
    faults: (order) => [failing('payments', 'charge', order, 400, 1)],
    async happens(world, id) {
      await stuck(world, id);
      const order = anOrder('stuck-fixed', {}, 2);
      await world.pipeline.deadLetters.fix(id, { ...operator, order });
    },
  },
];

/** The paths that an order can take at a stage. */
export function pathsOf(stage: Stage): readonly RunPath[] {
  const at = STAGES.indexOf(stage);
  return paths.filter(({ since }) => since === undefined || STAGES.indexOf(since) <= at);
}

function buyer(id: string): Order['buyer'] {
  return { id, name: 'Acme', email: 'orders@acme.example' };
}

/** A cancel while the partner holds a request that has acted. */
function cancelledWhile(step: string, partner: PartnerName, operation: string): RunPath {
  const name = `cancelled-at-${step}`;
  return {
    name,
    order: () => anOrder(name),
    faults: (order) => [held(partner, operation, order)],
    async happens(world, id) {
      const { faultId } = await heldRequest(world, id);
      await cancel(world, id);
      await world.partners.clearFault(faultId);
    },
  };
}
