import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { FaultSpec } from '../../partners/control.ts';
import { fastForward } from '../../lab/time/temporal.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';

const LIMIT_MS = 30_000;

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

/** Submits an order whose run stops where `fault` holds its request, until the returned function lets it go. */
async function heldAt(fault: Pick<FaultSpec, 'partner' | 'operation'>, acted: boolean) {
  const order = anOrder({ sku: `HELD-${Date.now()}-` });
  const id = orderIdOf(order);
  const reference = businessKey(id);
  // A quote carries no reference.
  const whose = fault.operation === 'quote' ? { sku: order.lines[0]?.sku ?? '' } : { reference };
  const faultId = await bench.partners.setFault({
    ...fault,
    ...whose,
    times: 1,
    effect: { kind: acted ? 'hang-after' : 'hang-before' },
  });
  // Held until it is let go: the wait for an answer must not end first on a busy machine.
  await bench.pipeline.submit(order, { ...quickPolicy, partnerTimeoutMs: 15_000 });
  await bench.partners.waitUntilHeld({ faultId }, LIMIT_MS);
  return { order, id, letGo: () => bench.partners.clearFault(faultId) };
}

async function cancelled(order: Order) {
  const { outcome, reason, position } = await bench.result(order);
  assert.equal(outcome, 'cancelled');
  assert.equal(reason, 'changed our mind');
  const asked = position.history.find(({ type }) => type === 'cancel-requested');
  assert.deepEqual(asked, { ...asked, by: 'Ada', reason: 'changed our mind' });
  return undos(position.history);
}

const cancel = (id: OrderId) => bench.pipeline.cancel(id, 'Ada', 'changed our mind');

function undos(history: HistoryEntry[]): string[] {
  return history.flatMap((entry) => (entry.type === 'undo-done' ? [entry.step] : []));
}

/** What the partners still hold of an order. */
async function left(id: OrderId) {
  const counts = await bench.partners.counts(businessKey(id));
  return {
    charged: counts.charge - counts.refund,
    reserved: counts.reservation - counts.release,
    placed: counts.order - counts.cancel,
    mails: counts.mail,
  };
}
const NOTHING = { charged: 0, reserved: 0, placed: 0, mails: 0 };

describe('a cancel', { concurrency: true }, () => {
  const cases = [
    { at: 'price', partner: 'supplier', operation: 'quote', acted: false, undone: [] },
    { at: 'credit', partner: 'bureau', operation: 'enquire', acted: true, undone: [] },
    { at: 'screen', partner: 'bureau', operation: 'screen', acted: true, undone: [] },
    { at: 'reserve', partner: 'warehouse', operation: 'reserve', acted: true, undone: ['reserve'] },
    {
      at: 'charge',
      partner: 'payments',
      operation: 'charge',
      acted: true,
      undone: ['charge', 'reserve'],
    },
    {
      at: 'place',
      partner: 'supplier',
      operation: 'place',
      acted: true,
      undone: ['place', 'charge', 'reserve'],
    },
  ] as const;
  for (const { at, partner, operation, acted, undone } of cases) {
    test(`while ${at} is under way undoes what was done, last first`, async () => {
      const { order, id, letGo } = await heldAt({ partner, operation }, acted);
      assert.deepEqual(await cancel(id), { kind: 'requested' });
      await bench.until(id, ({ history }) =>
        history.some(({ type }) => type === 'cancel-requested'),
      );
      await letGo();
      assert.deepEqual(await cancelled(order), undone);
      assert.deepEqual(await left(id), NOTHING);
    });
  }

  test('B10: of a charge under way is followed by the refund only after the charge has reported', async () => {
    const { order, id, letGo } = await heldAt({ partner: 'payments', operation: 'charge' }, true);
    await cancel(id);
    const { step, status } = await bench.until(id, ({ history }) =>
      history.some(({ type }) => type === 'cancel-requested'),
    );
    assert.deepEqual({ step, status }, { step: 'charge', status: 'running' });
    assert.equal((await bench.partners.counts(businessKey(id))).refund, 0);
    await letGo();
    await cancelled(order);
    const [charged, refunded] = (await bench.partners.effects(businessKey(id))).filter(
      ({ kind }) => kind === 'charge' || kind === 'refund',
    );
    assert.deepEqual([charged?.kind, refunded?.kind], ['charge', 'refund']);
  });

  test('of a charge whose answer never comes waits until it must have landed, and refunds it', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    const faultId = await bench.partners.setFault({
      partner: 'payments',
      operation: 'charge',
      reference: businessKey(id),
      effect: { kind: 'hang-before', landAfterMs: quickPolicy.partnerTimeoutMs + 50 },
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.partners.waitUntilHeld({ faultId }, LIMIT_MS);
    await cancel(id);
    assert.deepEqual(await cancelled(order), ['charge', 'reserve']);
    assert.deepEqual(await left(id), NOTHING);
    const { charge, refund } = await bench.partners.counts(businessKey(id));
    assert.deepEqual({ charge, refund }, { charge: 1, refund: 1 });
  });

  test('while the run waits for its charge date ends the wait and releases the goods', async () => {
    const chargeOn = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    const order = anOrder({}, { chargeOn });
    const id = orderIdOf(order);
    await bench.pipeline.submit(order, quickPolicy);
    const { step, waitingFor } = await bench.until(id, ({ status }) => status === 'waiting');
    assert.equal(step, 'charge');
    assert.ok(waitingFor?.kind === 'date' && waitingFor.until.startsWith(chargeOn));
    await cancel(id);
    assert.deepEqual(await cancelled(order), ['reserve']);
    assert.deepEqual(await left(id), NOTHING);
  });

  test('while the run waits for an approval withdraws the question', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ status }) => status === 'waiting');
    await cancel(id);
    assert.deepEqual(await cancelled(order), ['reserve']);
    const answer = await bench.pipeline.decide(id, {
      gate: 'approval',
      gateVersion: 1,
      decision: 'approve',
      by: 'Ada',
    });
    assert.ok(answer.kind === 'conflict' && answer.conflict === 'ended');
  });

  test('after the invoice step has begun is too late, says so in the history, and the order completes', async () => {
    const { order, id, letGo } = await heldAt({ partner: 'mailer', operation: 'send' }, false);
    assert.deepEqual(await cancel(id), { kind: 'requested' });
    await bench.until(id, ({ history }) => history.some(({ type }) => type === 'cancel-too-late'));
    await letGo();
    const { outcome } = await bench.result(order);
    assert.equal(outcome, 'completed');
    assert.deepEqual(await left(id), { charged: 1, reserved: 1, placed: 1, mails: 1 });
  });

  test('of an ended run is a conflict, and of none not found', async () => {
    const order = anOrder();
    await bench.pipeline.submit(order, quickPolicy);
    await bench.result(order);
    const late = await cancel(orderIdOf(order));
    assert.ok(late.kind === 'conflict' && late.conflict === 'ended');
    assert.deepEqual(await cancel({ buyerId: 'nobody', orderRef: 'none' }), { kind: 'not-found' });
  });

  test('that came with the start, before any worker saw the run, leaves nothing behind', async () => {
    const idle = await openBench({ worker: false });
    try {
      const order = anOrder();
      const id = orderIdOf(order);
      await idle.pipeline.submit(order, quickPolicy);
      assert.deepEqual(await idle.pipeline.cancel(id, 'Ada', 'at once'), { kind: 'requested' });
      await idle.startWorker();
      const { outcome } = await idle.result(order);
      assert.equal(outcome, 'cancelled');
      const { enquiry, reservation } = await idle.partners.counts(businessKey(id));
      assert.deepEqual({ enquiry, reservation }, { enquiry: 0, reservation: 0 });
    } finally {
      await idle.close();
    }
  });
});

describe("Temporal's own cancel", { concurrency: true }, () => {
  test('undoes like ours and ends the run as Canceled, with its outcome in the position', async () => {
    const { id, letGo } = await heldAt({ partner: 'payments', operation: 'charge' }, true);
    const handle = bench.client.workflow.getHandle(runIdOf(id));
    await handle.cancel();
    await letGo();
    await assert.rejects(handle.result(), /cancelled/i);
    const { outcome, history } = await bench.position(id);
    assert.equal(outcome, 'cancelled');
    assert.deepEqual(undos(history), ['charge', 'reserve']);
    assert.equal((await handle.describe()).status.name, 'CANCELLED');
    assert.deepEqual(await left(id), NOTHING);
  });

  test('is too late once the invoice step has begun', async () => {
    const { order, id, letGo } = await heldAt({ partner: 'mailer', operation: 'send' }, false);
    await bench.client.workflow.getHandle(runIdOf(id)).cancel();
    await bench.until(id, ({ history }) => history.some(({ type }) => type === 'cancel-too-late'));
    await letGo();
    assert.equal((await bench.result(order)).outcome, 'completed');
  });
});

test('an order due weeks ahead is charged on its date, and not before', async () => {
  const chargeOn = new Date(Date.now() + 25 * 86_400_000).toISOString().slice(0, 10);
  const order = anOrder({}, { chargeOn });
  const id = orderIdOf(order);
  await bench.pipeline.submit(order, quickPolicy);
  await bench.until(id, ({ status }) => status === 'waiting');
  await fastForward(bench.client, runIdOf(id), 23 * 86_400_000);
  assert.equal((await bench.position(id)).status, 'waiting');
  assert.equal((await bench.partners.counts(businessKey(id))).charge, 0);
  await fastForward(bench.client, runIdOf(id), 3 * 86_400_000);
  const { outcome, position } = await bench.result(order);
  assert.equal(outcome, 'completed');
  const charged = position.history.find((e) => e.type === 'step-done' && e.step === 'charge');
  assert.ok(charged?.at.startsWith(chargeOn));
});
