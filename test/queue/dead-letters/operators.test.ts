import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { flyCanary } from '../../../queue/dead-letters/canary.ts';
import { observe } from '../../../queue/metrics/observe.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench, storyOf } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { idleEngine } from '../support/engine.ts';
import { until } from '../../support/until.ts';
import type { IdleEngine } from '../support/engine.ts';

const ops = { by: 'ops', why: 'looked into it' };

describe('a stuck order on the queue', () => {
  let bench: QueueBench;
  let idle: IdleEngine;
  before(async () => {
    bench = await openBench();
    idle = await idleEngine(bench);
  });
  after(async () => {
    await idle.close();
    await bench.close();
  });

  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const counts = (order: Order) => bench.partners.counts(refOf(order));
  const dead = async () => (await idle.engine.transport.counts('orders')).dead;

  /** An order stuck because an operation of a partner answers nonsense for good. */
  async function stuck(spec: Partial<FaultSpec>, order = anOrder(), policy = quickPolicy) {
    const effect = { kind: 'status', status: 400 } as const;
    const faultId = await bench.partners.setFault({ effect, ...spec, reference: refOf(order) });
    await bench.pipeline.submit(order, policy);
    const id = orderIdOf(order);
    await bench.until(id, ({ status }) => status === 'stuck');
    return { order, id, mend: () => bench.partners.clearFault(faultId) };
  }

  test('is listed with its attempts, and replayed goes on where it was', async () => {
    const { order, id, mend } = await stuck({
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'status', status: 503 },
    });
    assert.equal(await dead(), 1);
    const listed = await bench.pipeline.deadLetters.list();
    assert.ok(listed.kind === 'dead-letters');
    const letter = listed.deadLetters.find((one) => one.id.orderRef === order.orderRef);
    assert.equal(letter?.step, 'place');
    assert.equal(letter?.attempts.length, quickPolicy.maxAttempts);
    await mend();
    assert.deepEqual(await bench.pipeline.deadLetters.replay(id, ops), { kind: 'accepted' });
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'completed');
    assert.deepEqual(storyOf(position).slice(7, 11), [
      'step-done charge',
      'stuck place',
      'replayed place',
      'step-done place',
    ]);
    const { charge, reservation, order: placed } = await counts(order);
    assert.deepEqual([charge, reservation, placed], [1, 1, 1]);
    assert.equal(await dead(), 0);
  });

  test('A18, A19: whose effect was done and whose answer was lost is redriven a day later without a second effect', async () => {
    const lost = {
      partner: 'payments',
      operation: 'charge',
      effect: { kind: 'drop-after' },
    } as const;
    const oneAttempt = { ...quickPolicy, maxAttempts: 1 };
    const { order, id, mend } = await stuck(lost, anOrder(), oneAttempt);
    assert.equal((await counts(order)).charge, 1);
    await mend();
    // The partner has forgotten the key by then; its statement has not.
    await bench.partners.advanceClock(25 * 3_600_000);
    await bench.pipeline.deadLetters.replay(id, ops);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    assert.equal((await counts(order)).charge, 1);
    const { rowCount } = await bench.pool.query(
      `SELECT FROM queue.message WHERE body->>'runId' = $1`,
      [refOf(order)],
    );
    assert.equal(rowCount, 0);
  });

  test('A18: whose dead message is redriven by hand is looked at, acked, and stays stuck until somebody decides', async () => {
    const { order, id, mend } = await stuck({ partner: 'warehouse', operation: 'reserve' });
    await idle.engine.transport.redrive('orders');
    await until('the redriven message is acked', async () => {
      const { rowCount } = await bench.pool.query(
        `SELECT FROM queue.message WHERE body->>'runId' = $1`,
        [refOf(order)],
      );
      return rowCount === 0;
    });
    assert.equal((await bench.position(id)).status, 'stuck');
    await mend();
    await bench.pipeline.deadLetters.replay(id, ops);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    assert.equal((await counts(order)).reservation, 1);
  });

  test('discarded is undone and ends, with name and reason', async () => {
    const { order, id, mend } = await stuck({ partner: 'supplier', operation: 'place' });
    assert.deepEqual(await bench.pipeline.deadLetters.discard(id, ops), { kind: 'accepted' });
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'discarded');
    assert.deepEqual(storyOf(position).slice(-4), [
      'discarded place',
      'undo-done charge',
      'undo-done reserve',
      'ended discarded',
    ]);
    const { charge, refund, reservation, release } = await counts(order);
    assert.deepEqual([charge, refund, reservation, release], [1, 1, 1, 1]);
    await mend();
  });

  test('fixed is undone and carried out anew under the next revision; before, after, who and why are kept', async () => {
    const { order, id, mend } = await stuck({ partner: 'supplier', operation: 'place' });
    await mend();
    const corrected = { ...order, tax: '2.00' };
    const fixed = await bench.pipeline.deadLetters.fix(id, { ...ops, order: corrected });
    assert.deepEqual(fixed, { kind: 'accepted' });
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'completed');
    assert.equal(position.revision, 2);
    const charges = await bench.partners.effects({ kind: 'charge', reference: refOf(order) });
    assert.deepEqual(
      charges.map(({ amount, key }) => [amount?.minor, key]),
      [
        [4000, `${refOf(order)}/r1/charge`],
        [4200, `${refOf(order)}/r2/charge`],
      ],
    );
    assert.equal((await counts(order)).refund, 1);
    const { rows } = await bench.pool.query(
      `SELECT resolution, resolved_by, why, before->>'tax' AS before, after->>'tax' AS after
       FROM queue.dead_letter WHERE run_id = $1`,
      [refOf(order)],
    );
    assert.deepEqual(rows, [
      { resolution: 'fixed', resolved_by: 'ops', why: ops.why, before: null, after: '2.00' },
    ]);
  });

  test('is not fixed with the order of somebody else, nor once the invoice may be out', async () => {
    const { order, id, mend } = await stuck({ partner: 'mailer', operation: 'send' });
    const fix = bench.pipeline.deadLetters.fix(id, { ...ops, order });
    assert.equal((await fix).kind, 'conflict');
    await mend();
    await bench.pipeline.deadLetters.replay(id, ops);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    assert.equal((await counts(order)).mail, 1);
    const late = await bench.pipeline.deadLetters.replay(id, ops);
    assert.equal(late.kind, 'conflict');

    const other = await stuck({ partner: 'bureau' });
    const wrong = await bench.pipeline.deadLetters.fix(other.id, { ...ops, order: anOrder() });
    assert.equal(wrong.kind, 'conflict');
    await other.mend();
    await bench.pipeline.deadLetters.replay(other.id, ops);
    await bench.ended(other.id);
  });

  test('by an undo that fails waits for an operator; replayed, the undo goes on', async () => {
    const order = anOrder();
    await bench.partners.setFault({
      partner: 'payments',
      operation: 'refund',
      reference: refOf(order),
      effect: { kind: 'status', status: 400 },
    });
    const { id } = await stuck({ partner: 'supplier', operation: 'place' }, order);
    await bench.pipeline.deadLetters.discard(id, ops);
    await bench.until(id, ({ history }) => history.some(({ type }) => type === 'undo-failed'));
    const failed = await bench.until(id, ({ status }) => status === 'stuck');
    assert.equal(failed.step, 'charge');
    const refused = await bench.pipeline.deadLetters.fix(id, { ...ops, order });
    assert.equal(refused.kind, 'conflict');
    await bench.partners.clearFault();
    await bench.pipeline.deadLetters.replay(id, ops);
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'discarded');
    assert.deepEqual(storyOf(position).slice(-4), [
      'replayed charge',
      'undo-done charge',
      'undo-done reserve',
      'ended discarded',
    ]);
    assert.equal((await counts(order)).refund, 1);
  });

  test('by an undo that is left to people ends with the others undone', async () => {
    const order = anOrder();
    await bench.partners.setFault({
      partner: 'payments',
      operation: 'refund',
      reference: refOf(order),
      effect: { kind: 'status', status: 400 },
    });
    const { id } = await stuck({ partner: 'supplier', operation: 'place' }, order);
    await bench.pipeline.deadLetters.discard(id, ops);
    await bench.until(
      id,
      ({ status, history }) => status === 'stuck' && history.at(-1)?.type === 'undo-failed',
    );
    await bench.pipeline.deadLetters.discard(id, ops);
    const position = await bench.ended(id);
    assert.deepEqual(storyOf(position).slice(-3), [
      'discarded charge',
      'undo-done reserve',
      'ended discarded',
    ]);
    await bench.partners.clearFault();
  });

  test('is cancelled like any other, and its dead letter with it', async () => {
    const { order, id, mend } = await stuck({ partner: 'supplier', operation: 'place' });
    await bench.pipeline.cancel(id, 'ada', 'no longer wanted');
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'cancelled');
    assert.equal((await counts(order)).refund, 1);
    const { rows } = await bench.pool.query(
      'SELECT resolution, resolved_by FROM queue.dead_letter WHERE run_id = $1',
      [refOf(order)],
    );
    assert.deepEqual(rows, [{ resolution: 'discarded', resolved_by: 'ada' }]);
    await mend();
  });

  test('a message that names no run, or nothing at all, is dead at once and holds nobody up', async () => {
    const before = await dead();
    await idle.engine.transport.send(idle.engine.pool, 'orders', [
      { body: { runId: 'nobody/none' } },
      { body: { hello: 'world' } },
    ]);
    const order = anOrder();
    await bench.pipeline.submit(order, quickPolicy);
    await bench.ended(orderIdOf(order));
    await until('both are dead', async () => (await dead()) === before + 2);
  });

  test('a zero of dead letters is backed by a canary and by who looked last', async () => {
    assert.equal((await observe(bench.pool, idle.engine.transport)).canaryAgeS, null);
    assert.equal(await flyCanary(bench.pool, idle.engine.transport), true);
    await bench.pipeline.deadLetters.list();
    const observed = await observe(bench.pool, idle.engine.transport);
    assert.ok(observed.canaryAgeS !== null && observed.canaryAgeS < 60);
    assert.equal(observed.lastLookBy, 'tester');
    assert.equal((await idle.engine.transport.counts('canary')).dead, 0);
  });
});
