import assert from 'node:assert/strict';
import type { Position } from '../../core/contract.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Outcome } from '../../core/steps.ts';
import type { EffectKind } from '../../partners/contract.ts';
import type { FaultSpec } from '../../partners/control.ts';
import { anOrder } from '../support/orders.ts';
import type { Side } from './side.ts';

const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;

export interface Path {
  name: string;
  order: () => Order;
  outcome: Outcome;
  effects: Partial<Record<EffectKind, number>>;
  /** Faults that are there before the order is submitted. */
  faults?: (id: OrderId, order: Order) => FaultSpec[];
  /** What happens between submit and end. `look` notes where the run is. */
  happens?: (side: Side, id: OrderId, look: (position: Position) => void) => Promise<void>;
}

const asked = { enquiry: 1, screening: 1 } as const;
const all = { ...asked, reservation: 1, charge: 1, order: 1, mail: 1 } as const;
const nothingLeft = { reservation: 1, release: 1 } as const;
const large = () => anOrder({ unitPrice: '2000.00' });

async function waiting(side: Side, id: OrderId, look: (position: Position) => void) {
  const position = await side.until(id, ({ status }) => status === 'waiting');
  look(position);
  return position;
}

async function answer(side: Side, id: OrderId, decision: 'approve' | 'reject', changes = {}) {
  const { kind, ...rest } = await side.pipeline.decide(id, {
    ...{ gate: 'approval', gateVersion: 1, decision, by: 'Ada' },
    ...changes,
  });
  return kind === 'conflict' && 'conflict' in rest ? rest.conflict : kind;
}

/** Cancels while the partner holds the request of a step that has acted. */
function cancelledDuring(
  step: string,
  fault: { partner: NonNullable<FaultSpec['partner']>; operation: string },
  effects: Path['effects'],
  outcome: Outcome = 'cancelled',
): Path {
  return {
    name: `cancelled during ${step}`,
    order: () => anOrder({ sku: `${step}-${Date.now()}-` }),
    outcome,
    effects,
    faults: (id, { lines }) => [
      {
        ...fault,
        // A quote carries no reference.
        ...(step === 'price' ? { sku: lines[0]?.sku ?? '' } : { reference: businessKey(id) }),
        times: 1,
        effect: { kind: 'hang-after' },
      },
    ],
    async happens(side, id, look) {
      const { faultId } = await heldRequest(side, id);
      assert.deepEqual(await side.pipeline.cancel(id, 'Ada', 'changed our mind'), {
        kind: 'requested',
      });
      look(
        await side.until(id, ({ history }) =>
          history.some(({ type }) => type.startsWith('cancel-')),
        ),
      );
      // A read has no effect, so nobody waits for its answer; whatever acts reports first.
      if (step === 'price') await side.until(id, ({ status }) => status === 'ended');
      await side.partners.clearFault(faultId);
    },
  };
}

/** Each path of the suite has an order of its own, and faults of its own strike that order only. */
async function heldRequest(side: Side, id: OrderId) {
  const faults = await side.partners.faults();
  const own = faults.find(
    ({ fault }) => fault.reference === businessKey(id) || skuOf.get(businessKey(id)) === fault.sku,
  );
  assert.ok(own, 'the path has no fault of its own');
  return side.partners.waitUntilHeld({ faultId: own.faultId }, LIMIT_MS);
}

/** Which sku a path's fault goes by, for the one partner that is not told the order. */
export const skuOf = new Map<string, string>();

export const paths: Path[] = [
  { name: 'plain', order: () => anOrder(), outcome: 'completed', effects: all },
  { name: '240 lines', order: () => anOrder({ lines: 240 }), outcome: 'completed', effects: all },
  {
    name: 'approved, with every wrong answer before and after',
    order: large,
    outcome: 'completed',
    effects: all,
    async happens(side, id, look) {
      await waiting(side, id, look);
      assert.equal(await answer(side, id, 'approve', { gate: 'budget' }), 'wrong-gate');
      assert.equal(await answer(side, id, 'approve', { gateVersion: 2 }), 'wrong-gate');
      assert.equal(await answer(side, id, 'approve', { note: 'checked' }), 'accepted');
      assert.equal(await answer(side, id, 'reject', { by: 'Bob' }), 'second');
    },
  },
  {
    name: 'rejected',
    order: large,
    outcome: 'rejected',
    effects: { ...asked, ...nothingLeft },
    async happens(side, id, look) {
      await waiting(side, id, look);
      assert.equal(await answer(side, id, 'reject'), 'accepted');
    },
  },
  {
    name: 'reminded, escalated, then approved',
    order: large,
    outcome: 'completed',
    effects: all,
    async happens(side, id, look) {
      await waiting(side, id, look);
      await side.forward(id, 1 * DAY_MS);
      await side.until(id, ({ history }) => history.some(({ type }) => type === 'reminded'));
      await side.forward(id, 1 * DAY_MS);
      look(await side.until(id, ({ history }) => history.some(({ type }) => type === 'escalated')));
      assert.equal(await answer(side, id, 'approve'), 'accepted');
    },
  },
  {
    name: 'expired, and answered too late',
    order: large,
    outcome: 'expired',
    effects: { ...asked, ...nothingLeft },
    async happens(side, id, look) {
      await waiting(side, id, look);
      await side.forward(id, 6 * DAY_MS);
      await side.until(id, ({ status }) => status === 'ended');
      assert.equal(await answer(side, id, 'approve'), 'late');
    },
  },
  {
    name: 'answered before anybody asked',
    order: () => anOrder({ sku: `early-${Date.now()}-` }),
    outcome: 'completed',
    effects: all,
    faults: (id) => [
      { partner: 'bureau', reference: businessKey(id), times: 1, effect: { kind: 'hang-after' } },
    ],
    async happens(side, id) {
      const { faultId } = await heldRequest(side, id);
      assert.equal(await answer(side, id, 'approve'), 'early');
      await side.partners.clearFault(faultId);
    },
  },
  {
    name: 'charged weeks later',
    order: () =>
      anOrder({}, { chargeOn: new Date(Date.now() + 25 * DAY_MS).toISOString().slice(0, 10) }),
    outcome: 'completed',
    effects: all,
    async happens(side, id, look) {
      await waiting(side, id, look);
      await side.forward(id, 26 * DAY_MS);
    },
  },
  {
    name: 'cancelled while waiting for the charge date',
    order: () =>
      anOrder({}, { chargeOn: new Date(Date.now() + 25 * DAY_MS).toISOString().slice(0, 10) }),
    outcome: 'cancelled',
    effects: { ...asked, ...nothingLeft },
    async happens(side, id, look) {
      await waiting(side, id, look);
      await side.pipeline.cancel(id, 'Ada', 'changed our mind');
    },
  },
  {
    name: 'cancelled while waiting for approval, and answered after',
    order: large,
    outcome: 'cancelled',
    effects: { ...asked, ...nothingLeft },
    async happens(side, id, look) {
      await waiting(side, id, look);
      await side.pipeline.cancel(id, 'Ada', 'changed our mind');
      await side.until(id, ({ status }) => status === 'ended');
      assert.equal(await answer(side, id, 'approve'), 'ended');
    },
  },
  cancelledDuring('price', { partner: 'supplier', operation: 'quote' }, {}),
  cancelledDuring('credit', { partner: 'bureau', operation: 'enquire' }, { enquiry: 1 }),
  cancelledDuring('screen', { partner: 'bureau', operation: 'screen' }, asked),
  cancelledDuring(
    'reserve',
    { partner: 'warehouse', operation: 'reserve' },
    { ...asked, ...nothingLeft },
  ),
  cancelledDuring(
    'charge',
    { partner: 'payments', operation: 'charge' },
    { ...asked, ...nothingLeft, charge: 1, refund: 1 },
  ),
  cancelledDuring(
    'place',
    { partner: 'supplier', operation: 'place' },
    { ...asked, ...nothingLeft, charge: 1, refund: 1, order: 1, cancel: 1 },
  ),
  cancelledDuring('invoice', { partner: 'mailer', operation: 'send' }, all, 'completed'),
  {
    name: 'refused by the bureau',
    order: () => anOrder({ buyerId: 'refused-parity' }),
    outcome: 'refused',
    effects: { enquiry: 1 },
  },
  {
    name: 'on a sanctions list',
    order: () => anOrder({ buyerId: 'sanctioned-parity' }),
    outcome: 'refused',
    effects: asked,
  },
  {
    name: 'declined card',
    order: () => anOrder({ buyerId: 'declined-parity' }),
    outcome: 'refused',
    effects: { ...asked, ...nothingLeft },
  },
  {
    name: 'refused by the supplier, and the refund fails until an operator replays it',
    order: () => anOrder(),
    outcome: 'refused',
    effects: { ...asked, ...nothingLeft, charge: 1, refund: 1 },
    faults: (id) => [
      {
        partner: 'supplier',
        operation: 'place',
        reference: businessKey(id),
        effect: { kind: 'status', status: 422 },
      },
      {
        partner: 'payments',
        operation: 'refund',
        reference: businessKey(id),
        effect: { kind: 'status', status: 400 },
      },
    ],
    async happens(side, id, look) {
      look(await side.until(id, ({ status }) => status === 'stuck'));
      const faults = await side.partners.faults();
      const refunds = faults.find(
        ({ fault }) => fault.operation === 'refund' && fault.reference === businessKey(id),
      );
      await side.partners.clearFault(refunds?.faultId);
      assert.equal(
        (await side.pipeline.deadLetters.replay(id, { by: 'Ops', why: 'mended' })).kind,
        'accepted',
      );
    },
  },
  {
    name: 'stuck at the charge and given up',
    order: () => anOrder(),
    outcome: 'discarded',
    effects: { ...asked, ...nothingLeft },
    faults: (id) => [
      {
        partner: 'payments',
        operation: 'charge',
        reference: businessKey(id),
        effect: { kind: 'status', status: 400 },
      },
    ],
    async happens(side, id, look) {
      look(await side.until(id, ({ status }) => status === 'stuck'));
      assert.equal(
        (await side.pipeline.deadLetters.discard(id, { by: 'Ops', why: 'hopeless' })).kind,
        'accepted',
      );
    },
  },
];
