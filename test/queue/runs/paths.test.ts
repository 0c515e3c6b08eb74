import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench, storyOf } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { happened } from '../../support/counts.ts';

const LIMIT = 20_000;

describe('the paths of an order on the queue', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const counts = (order: Order) => bench.partners.counts(refOf(order));
  const submit = (order: Order) => bench.pipeline.submit(order, quickPolicy);
  const fault = (order: Order, spec: Partial<FaultSpec> & Pick<FaultSpec, 'effect'>) =>
    bench.partners.setFault({ reference: refOf(order), ...spec });

  test('a buyer whose credit is refused ends the order without a reservation', async () => {
    const order = anOrder({ buyerId: 'refused-1' });
    await submit(order);
    const position = await bench.ended(orderIdOf(order));
    assert.equal(position.outcome, 'refused');
    assert.match(position.reason ?? '', /credit score 100 is below 400/);
    assert.equal((await counts(order)).reservation, 0);
  });

  test('a declined card releases the reservation and ends the order', async () => {
    const order = anOrder({ buyerId: 'declined-1' });
    await submit(order);
    const position = await bench.ended(orderIdOf(order));
    assert.deepEqual(storyOf(position).slice(-3), [
      'step-done approve',
      'undo-done reserve',
      'ended refused',
    ]);
    assert.deepEqual(happened(await counts(order)), {
      enquiry: 1,
      screening: 1,
      reservation: 1,
      release: 1,
    });
  });

  test('a refusal at the supplier undoes the charge and the reservation, last first', async () => {
    const order = anOrder();
    await fault(order, {
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'status', status: 422 },
    });
    await submit(order);
    const position = await bench.ended(orderIdOf(order));
    assert.deepEqual(storyOf(position).slice(-3), [
      'undo-done charge',
      'undo-done reserve',
      'ended refused',
    ]);
    const { charge, refund, reservation, release } = await counts(order);
    assert.deepEqual([charge, refund, reservation, release], [1, 1, 1, 1]);
  });

  test('an article nobody has ends the order, after every line has answered', async () => {
    const order = anOrder({ lines: 12 });
    const [first, ...rest] = order.lines;
    assert.ok(first);
    await submit({ ...order, lines: [{ ...first, sku: 'UNKNOWN-1' }, ...rest] });
    const position = await bench.ended(orderIdOf(order));
    assert.equal(position.outcome, 'refused');
  });

  test('an order that comes to nothing is carried out and charges nothing', async () => {
    const order = anOrder({}, { prepaid: '40.00' });
    await submit(order);
    const position = await bench.ended(orderIdOf(order));
    assert.equal(position.outcome, 'completed');
    const { charge, order: placed, mail } = await counts(order);
    assert.deepEqual([charge, placed, mail], [0, 1, 1]);
  });

  test('a busy partner is tried again until it answers, and the attempts are told meanwhile', async () => {
    const order = anOrder();
    await fault(order, {
      partner: 'warehouse',
      operation: 'reserve',
      times: 3,
      effect: { kind: 'status', status: 503 },
    });
    await submit(order);
    const position = await bench.ended(orderIdOf(order));
    assert.equal(position.outcome, 'completed');
    assert.equal((await counts(order)).reservation, 1);
    const { rows } = await bench.pool.query(
      `SELECT failure_class FROM queue.run_attempt WHERE run_id = $1 ORDER BY id`,
      [refOf(order)],
    );
    assert.deepEqual(
      rows.map((row) => (row as { failure_class: string }).failure_class),
      ['busy', 'busy', 'busy'],
    );
  });

  test('an order between two attempts says what failed and when it is tried again, and can be cancelled at once', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await fault(order, {
      partner: 'payments',
      operation: 'charge',
      effect: { kind: 'status', status: 503, retryAfter: 3_000 },
    });
    await submit(order);
    const position = await bench.until(id, ({ status }) => status === 'retrying');
    assert.equal(position.step, 'charge');
    assert.match(position.lastFailure ?? '', /payments answered 503/);
    assert.ok(Date.parse(position.nextAttemptAt ?? '') > Date.now() + 60_000);
    await bench.pipeline.cancel(id, 'ada', 'not worth the wait');
    const ended = await bench.ended(id);
    assert.equal(ended.outcome, 'cancelled');
    assert.deepEqual(storyOf(ended).slice(-2), ['undo-done reserve', 'ended cancelled']);
  });

  for (const partner of ['bureau', 'warehouse', 'payments', 'supplier', 'mailer'] as const) {
    test(`an answer of ${partner} that is lost leads to one effect`, async () => {
      const order = anOrder();
      const operation = { supplier: 'place', mailer: 'send' } as const;
      await fault(order, {
        partner,
        ...(partner in operation && {
          operation: partner === 'supplier' ? operation.supplier : operation.mailer,
        }),
        times: 1,
        effect: { kind: 'drop-after' },
      });
      await submit(order);
      assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
      const { charge, enquiry, reservation, order: placed, mail } = await counts(order);
      assert.deepEqual([charge, enquiry, reservation, placed, mail], [1, 1, 1, 1, 1]);
    });
  }

  test('a cancel while a partner holds a request is honoured when that has reported', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await fault(order, {
      partner: 'payments',
      operation: 'charge',
      times: 1,
      effect: { kind: 'hang-after' },
    });
    await submit(order);
    await bench.partners.waitUntilHeld({ reference: refOf(order) }, LIMIT);
    assert.deepEqual(await bench.pipeline.cancel(id, 'ada', 'changed my mind'), {
      kind: 'requested',
    });
    await bench.partners.release();
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'cancelled');
    assert.deepEqual(storyOf(position).slice(-5), [
      'cancel-requested',
      'step-done charge',
      'undo-done charge',
      'undo-done reserve',
      'ended cancelled',
    ]);
    assert.equal((await counts(order)).order, 0);
  });

  test('a cancel of an order that waits for its charge date releases the reservation at once', async () => {
    const soon = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    const order = anOrder({}, { chargeOn: soon, timeZone: 'Europe/Amsterdam' });
    const id = orderIdOf(order);
    await submit(order);
    const waiting = await bench.until(id, ({ status }) => status === 'waiting');
    assert.equal(waiting.step, 'charge');
    assert.equal(waiting.waitingFor?.kind, 'date');
    await bench.pipeline.cancel(id, 'ada', 'too late');
    const position = await bench.ended(id);
    assert.deepEqual(storyOf(position).slice(-4), [
      'waiting charge',
      'cancel-requested',
      'undo-done reserve',
      'ended cancelled',
    ]);
    const left = await bench.pool.query('SELECT FROM queue.timer WHERE run_id = $1', [
      refOf(order),
    ]);
    assert.equal(left.rowCount, 0);
  });

  test('a charge is made on its date, weeks ahead, and not before', async () => {
    const soon = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    const order = anOrder({}, { chargeOn: soon });
    const id = orderIdOf(order);
    await submit(order);
    await bench.until(id, ({ status }) => status === 'waiting');
    assert.equal((await counts(order)).charge, 0);
    await bench.shift(id, 21 * 86_400_000);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    assert.equal((await counts(order)).charge, 1);
  });

  test('a cancel that comes once the invoice step has begun is too late, and says so', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await fault(order, { partner: 'mailer', times: 1, effect: { kind: 'hang-before' } });
    await submit(order);
    await bench.partners.waitUntilHeld({ reference: refOf(order) }, LIMIT);
    await bench.pipeline.cancel(id, 'ada', 'oh no');
    await bench.until(id, ({ history }) => history.some(({ type }) => type === 'cancel-too-late'));
    await bench.partners.clearFault();
    assert.equal((await bench.ended(id)).outcome, 'completed');
    const late = await bench.pipeline.cancel(id, 'ada', 'again');
    assert.equal(late.kind, 'conflict');
  });

  test('a second submit says what became of the first', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await fault(order, { partner: 'bureau', times: 1, effect: { kind: 'hang-before' } });
    assert.equal((await submit(order)).kind, 'started');
    assert.equal((await submit(order)).kind, 'already-running');
    const other = { ...order, tax: '1.00' };
    assert.equal((await submit(other)).kind, 'conflict');
    await bench.partners.clearFault();
    await bench.ended(id);
    assert.deepEqual(await submit(order), { kind: 'already-finished', id, outcome: 'completed' });
    assert.equal((await submit(other)).kind, 'conflict');
    assert.equal((await counts(order)).charge, 1);
  });

  test('two buyers may have an order under the same reference', async () => {
    const order = anOrder();
    const twin = { ...order, buyer: { ...order.buyer, id: 'other' } };
    assert.equal((await submit(order)).kind, 'started');
    assert.equal((await submit(twin)).kind, 'started');
    const listed = await bench.pipeline.list({ orderRef: order.orderRef });
    assert.equal(listed.kind === 'runs' && listed.runs.length, 2);
    await bench.ended(orderIdOf(order));
    await bench.ended(orderIdOf(twin));
  });

  test('an order nobody submitted is not found, by any command', async () => {
    const id = { buyerId: 'nobody', orderRef: 'none' };
    const action = { by: 'ops', why: 'because' };
    assert.equal((await bench.pipeline.where(id)).kind, 'not-found');
    assert.equal((await bench.pipeline.cancel(id, 'ada', 'x')).kind, 'not-found');
    assert.equal((await bench.pipeline.deadLetters.replay(id, action)).kind, 'not-found');
    const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' } as const;
    assert.equal((await bench.pipeline.decide(id, answer)).kind, 'not-found');
  });
});
