import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Decision, Position } from '../../core/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import { fastForward } from '../../lab/time/temporal.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

const yes: Decision = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ada' };

/** An order above the limit, brought to its question. */
async function asked() {
  const order = anOrder({ unitPrice: '2000.00' });
  const id = orderIdOf(order);
  await bench.pipeline.submit(order, quickPolicy);
  const position = await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'person');
  const forward = (ms: number) => fastForward(bench.client, runIdOf(id), ms);
  return { order, id, position, forward };
}

function events(history: HistoryEntry[], ...types: HistoryEntry['type'][]): HistoryEntry['type'][] {
  return history.map(({ type }) => type).filter((type) => types.includes(type));
}

function dayOf({ since }: Position, entry: HistoryEntry | undefined): number {
  return Math.round((Date.parse(entry?.at ?? '') - Date.parse(since)) / HOUR) / 24;
}

describe('an order above the approval limit', { concurrency: true }, () => {
  test('waits for the approver, says since when and until when, and goes on when approved', async () => {
    const { order, id, position } = await asked();
    assert.equal(position.status, 'waiting');
    assert.equal(position.step, 'approve');
    assert.ok(position.waitingFor?.kind === 'person');
    const { who, gate, gateVersion, since, until } = position.waitingFor;
    assert.deepEqual(
      { who, gate, gateVersion },
      { who: 'purchasing', gate: 'approval', gateVersion: 1 },
    );
    assert.equal(Date.parse(until ?? '') - Date.parse(since), quickPolicy.approvalDeadlineMs);
    assert.deepEqual(await bench.pipeline.decide(id, { ...yes, note: 'urgent' }), {
      kind: 'accepted',
    });
    const result = await bench.result(order);
    assert.equal(result.outcome, 'completed');
    const decided = result.position.history.find(({ type }) => type === 'decided');
    assert.deepEqual(decided, { ...decided, ...yes, note: 'urgent' });
  });

  test('ends as rejected, with who and why, and nothing kept or charged, when rejected', async () => {
    const { order, id } = await asked();
    await bench.pipeline.decide(id, { ...yes, decision: 'reject', note: 'too dear' });
    const result = await bench.result(order);
    assert.equal(result.outcome, 'rejected');
    assert.match(result.reason ?? '', /Ada/);
    const { charge, reservation, release } = await bench.partners.counts(businessKey(id));
    assert.deepEqual({ charge, reservation, release }, { charge: 0, reservation: 1, release: 1 });
  });

  test('reminds once after a day, asks higher up once after two, and still takes the answer on the fourth', async () => {
    const { order, id, position, forward } = await asked();
    await forward(1.5 * DAY);
    await forward(2.5 * DAY);
    const later = await bench.position(id);
    const waiting = later.history.filter(({ type }) => type === 'reminded' || type === 'escalated');
    assert.deepEqual(
      waiting.map(({ type }) => type),
      ['reminded', 'escalated'],
    );
    assert.deepEqual(
      waiting.map((entry) => dayOf(position, entry)),
      [1, 2],
    );
    assert.ok(later.waitingFor?.kind === 'person' && later.waitingFor.who === 'finance-director');
    assert.deepEqual(await bench.pipeline.decide(id, yes), { kind: 'accepted' });
    assert.equal((await bench.result(order)).outcome, 'completed');
  });

  test('expires on the fifth day, and an answer after that is late', async () => {
    const { order, id, forward } = await asked();
    await forward(6 * DAY);
    const result = await bench.result(order);
    assert.equal(result.outcome, 'expired');
    const answer = await bench.pipeline.decide(id, yes);
    assert.ok(answer.kind === 'conflict' && answer.conflict === 'late');
  });
});

describe('an answer that does not count', { concurrency: true }, () => {
  test('given before the question is a conflict `early` with an entry, and does not shadow the one in time', async () => {
    const sku = `LATE-${Date.now()}-`;
    const fault = await bench.partners.setFault({
      partner: 'supplier',
      operation: 'quote',
      sku: `${sku}1`,
      effect: { kind: 'hang-before' },
    });
    const order = anOrder({ unitPrice: '2000.00', sku });
    const id = orderIdOf(order);
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ step }) => step === 'price');
    const early = await bench.pipeline.decide(id, yes);
    assert.ok(early.kind === 'conflict' && early.conflict === 'early');
    await bench.partners.clearFault(fault);
    await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'person');
    assert.deepEqual(await bench.pipeline.decide(id, yes), { kind: 'accepted' });
    const { outcome, position } = await bench.result(order);
    assert.equal(outcome, 'completed');
    assert.deepEqual(events(position.history, 'decision-conflict', 'decided'), [
      'decision-conflict',
      'decided',
    ]);
  });

  test('to another gate or another version is a conflict `wrong-gate` with an entry, and the question stays open', async () => {
    const { id } = await asked();
    for (const wrong of [
      { ...yes, gateVersion: 2 },
      { ...yes, gate: 'payment' },
    ]) {
      const answer = await bench.pipeline.decide(id, wrong);
      assert.ok(answer.kind === 'conflict' && answer.conflict === 'wrong-gate');
    }
    const { history, waitingFor } = await bench.position(id);
    assert.equal(waitingFor?.kind, 'person');
    assert.equal(events(history, 'decision-conflict').length, 2);
    await bench.pipeline.cancel(id, 'test', 'over');
  });

  test('by a second person is a conflict `second`, with an entry, while the run goes on with the first', async () => {
    const { order, id } = await asked();
    const fault = await bench.partners.setFault({
      partner: 'warehouse',
      reference: businessKey(id),
      effect: { kind: 'hang-before' },
    });
    assert.deepEqual(await bench.pipeline.decide(id, yes), { kind: 'accepted' });
    const no: Decision = { ...yes, decision: 'reject', by: 'Bob' };
    const second = await bench.pipeline.decide(id, no);
    assert.ok(second.kind === 'conflict' && second.conflict === 'second');
    // The same answer by the same person again is no second one: it is a retry.
    assert.deepEqual(await bench.pipeline.decide(id, yes), { kind: 'accepted' });
    await bench.partners.clearFault(fault);
    const { outcome, position } = await bench.result(order);
    assert.equal(outcome, 'completed');
    assert.deepEqual(events(position.history, 'decision-conflict', 'decided'), [
      'decided',
      'decision-conflict',
    ]);
  });

  test('of two people at once one is taken and one is a conflict', async () => {
    const { order, id } = await asked();
    const answers = await Promise.all([
      bench.pipeline.decide(id, yes),
      bench.pipeline.decide(id, { ...yes, by: 'Bob' }),
    ]);
    assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['accepted', 'conflict']);
    assert.equal((await bench.result(order)).outcome, 'completed');
  });

  test('to a run that never was is not found, and to a malformed question an error that names the field', async () => {
    const nobody = { buyerId: 'nobody', orderRef: 'none' };
    assert.deepEqual(await bench.pipeline.decide(nobody, yes), { kind: 'not-found' });
    const { id } = await asked();
    await assert.rejects(bench.pipeline.decide(id, { ...yes, by: '' }), /by must be a text/);
    await bench.pipeline.cancel(id, 'test', 'over');
  });
});
