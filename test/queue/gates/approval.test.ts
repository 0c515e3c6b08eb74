import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Decision } from '../../../core/contract.ts';
import type { OrderId } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench, storyOf } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';

const DAY = 24 * 3_600_000;
const yes: Decision = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' };

describe('an approval on the queue', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  async function waiting(): Promise<OrderId> {
    const order = anOrder({ unitPrice: '2000.00' });
    await bench.pipeline.submit(order, quickPolicy);
    const id = orderIdOf(order);
    await bench.until(id, ({ status }) => status === 'waiting');
    return id;
  }

  test('is waited for without a worker, a lease or a message', async () => {
    const id = await waiting();
    const position = await bench.position(id);
    assert.equal(position.step, 'approve');
    assert.equal(position.waitingFor?.kind, 'person');
    const { rows } = await bench.pool.query(
      `SELECT lease_until, (SELECT count(*)::int FROM queue.message m WHERE m.body->>'runId' = r.id) AS messages
       FROM queue.run r WHERE order_ref = $1`,
      [id.orderRef],
    );
    assert.deepEqual(rows, [{ lease_until: null, messages: 0 }]);
    await bench.pipeline.decide(id, yes);
    assert.equal((await bench.ended(id)).outcome, 'completed');
  });

  test('that is refused ends the order with nothing charged', async () => {
    const id = await waiting();
    assert.deepEqual(await bench.pipeline.decide(id, { ...yes, decision: 'reject' }), {
      kind: 'accepted',
    });
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'rejected');
    assert.equal(position.reason, 'rejected by ada');
    assert.equal((await bench.partners.counts(`acme/${id.orderRef}`)).charge, 0);
  });

  test('is reminded of once, escalated once and expires at its deadline', async () => {
    const id = await waiting();
    const told = (type: string) => (position: { history: { type: string }[] }) =>
      position.history.some((entry) => entry.type === type);
    await bench.shift(id, DAY);
    await bench.until(id, told('reminded'));
    await bench.shift(id, DAY);
    const escalated = await bench.until(id, told('escalated'));
    assert.equal(
      escalated.waitingFor?.kind === 'person' && escalated.waitingFor.who,
      'finance-director',
    );
    await bench.shift(id, 3 * DAY);
    const position = await bench.ended(id);
    assert.deepEqual(storyOf(position).slice(-6), [
      'step-done reserve',
      'waiting approve',
      'reminded',
      'escalated',
      'undo-done reserve',
      'ended expired',
    ]);
  });

  test('A27: names its gate and version; an answer for another one changes nothing and is recorded', async () => {
    const id = await waiting();
    const wrong = await bench.pipeline.decide(id, { ...yes, gateVersion: 2 });
    assert.equal(wrong.kind === 'conflict' && wrong.conflict, 'wrong-gate');
    const other = await bench.pipeline.decide(id, { ...yes, gate: 'payment' });
    assert.equal(other.kind === 'conflict' && other.conflict, 'wrong-gate');
    assert.equal((await bench.position(id)).status, 'waiting');
    await bench.pipeline.decide(id, yes);
    const position = await bench.ended(id);
    assert.equal(
      storyOf(position).filter((line) => line === 'decision-conflict wrong-gate').length,
      2,
    );
  });

  test('A27: of two approvers at the same moment one is taken and the other is told so', async () => {
    const id = await waiting();
    const answers = await Promise.all(
      ['ada', 'bob', 'eve'].map((by) => bench.pipeline.decide(id, { ...yes, by })),
    );
    assert.equal(answers.filter(({ kind }) => kind === 'accepted').length, 1);
    const conflicts = answers.flatMap((answer) =>
      answer.kind === 'conflict' ? [answer.conflict] : [],
    );
    assert.deepEqual(conflicts, ['second', 'second']);
    const position = await bench.ended(id);
    assert.equal(storyOf(position).filter((line) => line === 'decided').length, 1);
  });

  test('A27: an old approval that comes again after a fix does not answer the new question', async () => {
    await using stuck = await stuckAfterApproval(bench);
    const { id, order } = stuck;
    await bench.partners.clearFault();
    const fixed = { ...order, tax: '1.00' };
    const action = { by: 'ops', why: 'wrong tax' };
    assert.deepEqual(await bench.pipeline.deadLetters.fix(id, { ...action, order: fixed }), {
      kind: 'accepted',
    });
    await bench.until(id, (position) => {
      const { waitingFor } = position;
      return waitingFor?.kind === 'person' && waitingFor.gateVersion === 2;
    });
    const replayed = await bench.pipeline.decide(id, { ...yes, decision: 'reject' });
    assert.equal(replayed.kind === 'conflict' && replayed.conflict, 'second');
    assert.equal((await bench.position(id)).status, 'waiting');
    await bench.pipeline.decide(id, { ...yes, gateVersion: 2 });
    assert.equal((await bench.ended(id)).outcome, 'completed');
  });

  test('A28: one that comes a second after the deadline is late, with an entry in the history', async () => {
    const policy = { ...quickPolicy };
    const order = anOrder({ unitPrice: '2000.00' });
    await bench.pipeline.submit(order, policy);
    const id = orderIdOf(order);
    await bench.until(id, ({ status }) => status === 'waiting');
    await bench.shift(id, 5 * DAY + 1_000);
    const answer = await bench.pipeline.decide(id, yes);
    assert.equal(answer.kind === 'conflict' && answer.conflict, 'late');
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'expired');
    const again = await bench.pipeline.decide(id, yes);
    assert.equal(again.kind === 'conflict' && again.conflict, 'late');
    const { history } = await bench.position(id);
    assert.equal(history.filter(({ type }) => type === 'decision-conflict').length, 2);
  });

  test('that comes before the question is early', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    await bench.partners.setFault({
      partner: 'bureau',
      reference: `acme/${id.orderRef}`,
      times: 1,
      effect: { kind: 'hang-before' },
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.partners.waitUntilHeld({ partner: 'bureau' }, 20_000);
    const answer = await bench.pipeline.decide(id, yes);
    assert.equal(answer.kind === 'conflict' && answer.conflict, 'early');
    await bench.partners.clearFault();
    await bench.until(id, ({ status }) => status === 'waiting');
    await bench.pipeline.decide(id, yes);
    assert.equal((await bench.ended(id)).outcome, 'completed');
  });

  test('the same answer again, by the same person, is the same answer', async () => {
    const id = await waiting();
    assert.deepEqual(await bench.pipeline.decide(id, yes), { kind: 'accepted' });
    assert.deepEqual(await bench.pipeline.decide(id, yes), { kind: 'accepted' });
    const position = await bench.ended(id);
    assert.equal(storyOf(position).filter((line) => line === 'decided').length, 1);
  });
});

/** An approved order that is stuck because the warehouse answers nonsense. */
async function stuckAfterApproval(bench: QueueBench) {
  const order = anOrder({ unitPrice: '2000.00' });
  const id = orderIdOf(order);
  const faultId = await bench.partners.setFault({
    partner: 'payments',
    operation: 'charge',
    reference: `acme/${id.orderRef}`,
    effect: { kind: 'status', status: 400 },
  });
  await bench.pipeline.submit(order, quickPolicy);
  await bench.until(id, ({ status }) => status === 'waiting');
  await bench.pipeline.decide(id, yes);
  await bench.until(id, ({ status }) => status === 'stuck');
  return {
    order,
    id,
    async [Symbol.asyncDispose]() {
      await bench.partners.clearFault(faultId).catch(() => undefined);
    },
  };
}
