import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Position } from '../../core/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { FaultSpec } from '../../partners/control.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

const ada = { by: 'Ada', why: 'spoke to them' };

/** Submits an order and waits until one partner's trouble has made its run stuck. */
async function stuckAt(
  fault: Pick<FaultSpec, 'partner' | 'operation' | 'effect'>,
  order: Order = anOrder(),
) {
  const id = orderIdOf(order);
  const faultId = await bench.partners.setFault({ ...fault, reference: businessKey(id) });
  await bench.pipeline.submit(order, quickPolicy);
  const position = await bench.until(id, ({ status }) => status === 'stuck');
  return { order, id, position, faultId, mend: () => bench.partners.clearFault(faultId) };
}

const busy = { kind: 'status', status: 503 } as const;

function steps(history: HistoryEntry[], type: 'undo-done' | 'undo-failed' | 'stuck'): string[] {
  return history.flatMap((entry) => (entry.type === type ? [entry.step] : []));
}

async function left(id: OrderId) {
  const counts = await bench.partners.counts(businessKey(id));
  return {
    charged: counts.charge - counts.refund,
    reserved: counts.reservation - counts.release,
    placed: counts.order - counts.cancel,
  };
}

/** Lists lag behind the run. */
async function deadLetterOf(id: OrderId) {
  return until(`${id.orderRef} among the dead letters`, async () => {
    const listed = await bench.pipeline.deadLetters.list();
    assert.ok(listed.kind === 'dead-letters');
    return listed.deadLetters.find((letter) => letter.id.orderRef === id.orderRef);
  });
}

describe('a step whose attempts are used up', { concurrency: true }, () => {
  test('makes the run stuck and a dead letter, and a replay goes on where it was, repeating nothing', async () => {
    const { order, id, position, mend } = await stuckAt({
      partner: 'payments',
      operation: 'charge',
      effect: busy,
    });
    assert.equal(position.step, 'charge');
    assert.equal(position.waitingFor?.kind, 'operator');
    const letter = await deadLetterOf(id);
    assert.equal(letter.step, 'charge');
    assert.deepEqual(
      letter.attempts.map(({ failureClass }) => failureClass),
      ['busy'],
    );
    await mend();
    assert.deepEqual(await bench.pipeline.deadLetters.replay(id, ada), { kind: 'accepted' });
    const result = await bench.result(order);
    assert.equal(result.outcome, 'completed');
    const replayed = result.position.history.find(({ type }) => type === 'replayed');
    assert.deepEqual(replayed, { ...replayed, step: 'charge', ...ada });
    const { charge, reservation, order: placed } = await bench.partners.counts(businessKey(id));
    assert.deepEqual({ charge, reservation, placed }, { charge: 1, reservation: 1, placed: 1 });
  });

  test('comes back to the operator when the replay fails too, with every failure in the dead letter', async () => {
    const { order, id, mend } = await stuckAt({
      partner: 'warehouse',
      operation: 'reserve',
      effect: busy,
    });
    await bench.pipeline.deadLetters.replay(id, ada);
    await bench.until(id, ({ history }) => steps(history, 'stuck').length === 2);
    assert.equal((await deadLetterOf(id)).attempts.length, 2);
    await mend();
    await bench.pipeline.deadLetters.replay(id, { ...ada, why: 'they are back' });
    assert.equal((await bench.result(order)).outcome, 'completed');
  });

  test('after answers that never came, a replay asks the supplier first and places no second order', async () => {
    const { order, id, mend } = await stuckAt({
      partner: 'supplier',
      operation: 'find',
      effect: { kind: 'drop-before' },
    });
    await mend();
    const lost = await bench.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      reference: businessKey(id),
      times: 1,
      effect: { kind: 'drop-after' },
    });
    await bench.pipeline.deadLetters.replay(id, ada);
    assert.equal((await bench.result(order)).outcome, 'completed');
    await bench.partners.clearFault(lost);
    assert.equal((await bench.partners.counts(businessKey(id))).order, 1);
  });

  test('is given up by a discard: what was done is undone, and the run ends as discarded', async () => {
    const { order, id, mend } = await stuckAt({
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'status', status: 500 },
    });
    await mend();
    await bench.pipeline.deadLetters.discard(id, ada);
    const { outcome, reason, position } = await bench.result(order);
    assert.equal(outcome, 'discarded');
    assert.equal(reason, 'spoke to them');
    assert.deepEqual(steps(position.history, 'undo-done'), ['charge', 'reserve']);
    assert.deepEqual(await left(id), { charged: 0, reserved: 0, placed: 0 });
  });

  test('can be cancelled instead', async () => {
    const { order, id } = await stuckAt({
      partner: 'payments',
      operation: 'charge',
      effect: busy,
    });
    await bench.pipeline.cancel(id, 'Ada', 'no more');
    const { outcome, position } = await bench.result(order);
    assert.equal(outcome, 'cancelled');
    assert.deepEqual(steps(position.history, 'undo-done'), ['reserve']);
    assert.deepEqual(await left(id), { charged: 0, reserved: 0, placed: 0 });
  });

  test('is never a request that was wrong: that is stuck at once, without another attempt', async () => {
    const { position, faultId } = await stuckAt({
      partner: 'bureau',
      operation: 'enquire',
      effect: { kind: 'status', status: 400 },
    });
    assert.match(JSON.stringify(position.waitingFor), /never/);
    const fault = (await bench.partners.faults()).find(({ faultId: it }) => it === faultId);
    assert.equal(fault?.struck, 1);
    await bench.pipeline.cancel(position.id, 'test', 'over');
  });
});

describe('a fix', { concurrency: true }, () => {
  test('undoes the old revision and takes the corrected order from the first step, before and after on record', async () => {
    const { order, id, mend } = await stuckAt({
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'status', status: 400 },
    });
    await mend();
    const [line] = order.lines;
    assert.ok(line);
    const fixed: Order = { ...order, lines: [{ ...line, unitPrice: '3.50' }] };
    const action = { ...ada, order: fixed };
    assert.deepEqual(await bench.pipeline.deadLetters.fix(id, action), { kind: 'accepted' });
    const { outcome, totals, position } = await bench.result(order);
    assert.equal(outcome, 'completed');
    assert.equal(position.revision, 2);
    assert.equal(totals?.payable.minor, 3_500);
    const entry = position.history.find((event) => event.type === 'fixed');
    assert.ok(entry?.type === 'fixed');
    assert.match(entry.before, /"unitPrice":"4"/);
    assert.match(entry.after, /"unitPrice":"3.50"/);
    assert.deepEqual(steps(position.history, 'undo-done'), ['charge', 'reserve']);
    assert.deepEqual(await left(id), { charged: 1, reserved: 1, placed: 1 });
    const charges = (await bench.partners.effects(businessKey(id))).filter(
      ({ kind }) => kind === 'charge',
    );
    assert.deepEqual(
      charges.map(({ amount }) => amount?.minor),
      [4_000, 3_500],
    );
  });

  test('asks anew for an approval, under the next version of the question', async () => {
    const { order, id, mend } = await approvedAndStuck();
    await mend();
    await bench.pipeline.deadLetters.fix(id, { ...ada, order: { ...order, tax: '10' } });
    const again = await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'person');
    assert.ok(again.waitingFor?.kind === 'person' && again.waitingFor.gateVersion === 2);
    const yes = { gate: 'approval', decision: 'approve', by: 'Bob' } as const;
    const stale = await bench.pipeline.decide(id, { ...yes, gateVersion: 1 });
    assert.ok(stale.kind === 'conflict' && stale.conflict === 'second');
    await bench.pipeline.decide(id, { ...yes, gateVersion: 2 });
    assert.equal((await bench.result(order)).outcome, 'completed');
  });

  test('of another order is refused, and the run stays stuck', async () => {
    const { id } = await stuckAt({ partner: 'payments', operation: 'charge', effect: busy });
    const answer = await bench.pipeline.deadLetters.fix(id, { ...ada, order: anOrder() });
    assert.equal(answer.kind, 'conflict');
    assert.equal((await bench.position(id)).status, 'stuck');
    await bench.pipeline.cancel(id, 'test', 'over');
  });

  test('of a run whose invoice may be out is refused', async () => {
    const { order, id, mend } = await stuckAt({
      partner: 'mailer',
      operation: 'send',
      effect: busy,
    });
    const answer = await bench.pipeline.deadLetters.fix(id, { ...ada, order });
    assert.ok(answer.kind === 'conflict' && /invoice/.test(answer.reason));
    await mend();
    await bench.pipeline.deadLetters.replay(id, ada);
    assert.equal((await bench.result(order)).outcome, 'completed');
    assert.equal((await bench.partners.counts(businessKey(id))).mail, 1);
  });

  async function approvedAndStuck() {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    const fault = await bench.partners.setFault({
      partner: 'payments',
      reference: businessKey(id),
      effect: busy,
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'person');
    const yes = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ada' } as const;
    await bench.pipeline.decide(id, yes);
    await bench.until(id, ({ status }) => status === 'stuck');
    return { order, id, mend: () => bench.partners.clearFault(fault) };
  }
});

describe('an undo that fails', { concurrency: true }, () => {
  test('is shown as stuck, never silence, and goes on when an operator replays it', async () => {
    const { order, id, mend } = await refundFails();
    const stuck = await bench.until(id, refundIsStuck);
    assert.deepEqual(steps(stuck.history, 'undo-failed'), ['charge']);
    assert.equal((await bench.pipeline.deadLetters.fix(id, { ...ada, order })).kind, 'conflict');
    await mend();
    await bench.pipeline.deadLetters.replay(id, ada);
    const { outcome, position } = await bench.result(order);
    assert.equal(outcome, 'cancelled');
    assert.deepEqual(steps(position.history, 'undo-done'), ['charge', 'reserve']);
    assert.deepEqual(await left(id), { charged: 0, reserved: 0, placed: 0 });
  });

  test('can be left to people, on record, and the other undos still run', async () => {
    const { order, id } = await refundFails();
    await bench.until(id, refundIsStuck);
    await bench.pipeline.deadLetters.discard(id, ada);
    const { outcome, position } = await bench.result(order);
    assert.equal(outcome, 'cancelled');
    assert.deepEqual(steps(position.history, 'undo-done'), ['reserve']);
    const discarded = position.history.find(({ type }) => type === 'discarded');
    assert.deepEqual(discarded, { ...discarded, step: 'charge', ...ada });
    assert.deepEqual(await left(id), { charged: 1, reserved: 0, placed: 0 });
  });

  test('in the middle of a fix and left to people ends the run: the new revision would charge twice', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    for (const fault of [
      { partner: 'supplier', operation: 'place', effect: busy },
      { partner: 'payments', operation: 'refund', effect: busy },
    ] as const) {
      await bench.partners.setFault({ ...fault, reference: businessKey(id) });
    }
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ status }) => status === 'stuck');
    await bench.pipeline.deadLetters.fix(id, { ...ada, order: { ...order, tax: '1' } });
    await bench.until(id, ({ history }) => steps(history, 'undo-failed').length === 1);
    await bench.pipeline.deadLetters.discard(id, ada);
    const { outcome } = await bench.result(order);
    assert.equal(outcome, 'discarded');
    assert.equal((await bench.partners.counts(businessKey(id))).charge, 1);
  });

  const refundIsStuck = ({ status, step }: Position) => status === 'stuck' && step === 'charge';

  /** A run that is cancelled after its charge, while refunds are refused. */
  async function refundFails() {
    const order = anOrder();
    const id = orderIdOf(order);
    const reference = businessKey(id);
    const refund = await bench.partners.setFault({
      partner: 'payments',
      operation: 'refund',
      reference,
      effect: busy,
    });
    const place = await bench.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      reference,
      effect: busy,
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ status, step }) => status === 'stuck' && step === 'place');
    await bench.partners.clearFault(place);
    await bench.pipeline.cancel(id, 'Ada', 'no more');
    return { order, id, mend: () => bench.partners.clearFault(refund) };
  }
});

test('an operator who commands a run that is not stuck, that ended, or that never was, is told so', async () => {
  const order = anOrder();
  await bench.pipeline.submit(order, quickPolicy);
  await bench.result(order);
  const replay = (id: OrderId, action: typeof ada) => bench.pipeline.deadLetters.replay(id, action);
  assert.equal((await replay(orderIdOf(order), ada)).kind, 'conflict');
  assert.equal((await replay({ buyerId: 'no', orderRef: 'no' }, ada)).kind, 'not-found');
  const waiting = anOrder({ unitPrice: '2000.00' });
  await bench.pipeline.submit(waiting, quickPolicy);
  await bench.until(orderIdOf(waiting), ({ status }) => status === 'waiting');
  assert.equal((await replay(orderIdOf(waiting), ada)).kind, 'conflict');
  await bench.pipeline.cancel(orderIdOf(waiting), 'test', 'over');
});
