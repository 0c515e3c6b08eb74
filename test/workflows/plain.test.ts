import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import { STEPS } from '../../core/steps.ts';
import { resetToStart } from '../../replay/record/moves.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { ONCE } from '../../lab/observe/effects.ts';
import { happened } from '../support/counts.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

async function carriedOut(order: Order) {
  await bench.pipeline.submit(order, quickPolicy);
  const result = await bench.result(order);
  const counts = await bench.partners.counts(businessKey(orderIdOf(order)));
  return { ...result, counts };
}

describe('a plain order', { concurrency: true }, () => {
  test('takes its ten steps in order, and every partner acts once', async () => {
    const { outcome, position, totals, counts } = await carriedOut(anOrder());
    assert.equal(outcome, 'completed');
    assert.equal(totals?.payable.minor, 4_000);
    const done = position.history.flatMap((e) => (e.type === 'step-done' ? [e.step] : []));
    assert.deepEqual(done, STEPS);
    assert.deepEqual(happened(counts), ONCE);
  });

  test('B30: sends every partner a key made of buyer, reference, revision and step, nothing of the run', async () => {
    const order = anOrder();
    await carriedOut(order);
    const reference = businessKey(orderIdOf(order));
    const effects = await bench.partners.effects(reference);
    assert.deepEqual(effects.map(({ key }) => key).sort(), [
      `${reference}/r1/charge`,
      `${reference}/r1/credit`,
      `${reference}/r1/invoice`,
      `${reference}/r1/place`,
      `${reference}/r1/reserve`,
      `${reference}/r1/screen`,
    ]);
  });

  test('reset to its first step after it has completed goes through all of them again and repeats no effect', async () => {
    const order = anOrder();
    const { counts } = await carriedOut(order);
    await bench.partners.advanceClock(2 * 86_400_000);
    await resetToStart(bench.client, orderIdOf(order));
    const { outcome } = await bench.result(order);
    assert.equal(outcome, 'completed');
    assert.deepEqual(await bench.partners.counts(businessKey(orderIdOf(order))), counts);
  });

  test('whose prepayment covers it is charged nothing, and completes', async () => {
    const { outcome, counts } = await carriedOut(anOrder({}, { prepaid: '40' }));
    assert.equal(outcome, 'completed');
    assert.deepEqual({ charge: counts.charge, mail: counts.mail }, { charge: 0, mail: 1 });
  });

  test('without a price is charged what the supplier quotes', async () => {
    const order = anOrder();
    const [line] = order.lines;
    assert.ok(line);
    delete line.unitPrice;
    const { outcome, totals, counts } = await carriedOut(order);
    assert.equal(outcome, 'completed');
    assert.ok(totals && totals.payable.minor > 0);
    assert.equal(counts.charge, 1);
  });
});

describe(
  'a business rule that says no is a finished run with a reason:',
  { concurrency: true },
  () => {
    test('the bureau knows the buyer', async () => {
      const { outcome, reason, counts } = await carriedOut(anOrder({ buyerId: 'refused-ltd' }));
      assert.equal(outcome, 'refused');
      assert.match(reason ?? '', /credit score 100/);
      assert.deepEqual(
        { enquiry: counts.enquiry, screening: counts.screening },
        { enquiry: 1, screening: 0 },
      );
    });

    test('the buyer is on a sanctions list, before anything is reserved', async () => {
      const { outcome, reason, counts } = await carriedOut(anOrder({ buyerId: 'sanctioned-ltd' }));
      assert.equal(outcome, 'refused');
      assert.match(reason ?? '', /sanctions list EU-833/);
      assert.deepEqual(
        { screening: counts.screening, reservation: counts.reservation },
        { screening: 1, reservation: 0 },
      );
    });

    test('the card is declined, and the goods are released', async () => {
      const { outcome, position, counts } = await carriedOut(anOrder({ buyerId: 'declined-ltd' }));
      assert.equal(outcome, 'refused');
      const undone = position.history.flatMap((e) => (e.type === 'undo-done' ? [e.step] : []));
      assert.deepEqual(undone, ['reserve']);
      assert.deepEqual(
        { charge: counts.charge, refund: counts.refund, release: counts.release },
        { charge: 0, refund: 0, release: 1 },
      );
    });

    test('the warehouse has none', async () => {
      const { outcome, counts } = await carriedOut(anOrder({ sku: 'NOSTOCK-' }));
      assert.equal(outcome, 'refused');
      assert.equal(counts.release, 0);
    });

    test('the supplier does not know the article, without another try', async () => {
      const { outcome, counts } = await carriedOut(anOrder({ sku: 'UNKNOWN-' }));
      assert.equal(outcome, 'refused');
      assert.equal(counts.enquiry, 0);
    });

    test('the stated total is not what the supplier quotes', async () => {
      const order = { ...anOrder(), statedTotal: '1.23' };
      const [line] = order.lines;
      assert.ok(line);
      delete line.unitPrice;
      const { outcome, reason } = await carriedOut(order);
      assert.equal(outcome, 'refused');
      assert.match(reason ?? '', /statedTotal/);
    });

    test('the order breaks a rule that the edge should have caught: every fault is named', async () => {
      const order = anOrder();
      const bad = { ...order, currency: 'XXX', lines: [] };
      const { outcome, reason } = await carriedOut(bad);
      assert.equal(outcome, 'refused');
      assert.match(reason ?? '', /currency.*lines/s);
    });
  },
);

describe('an order of', { concurrency: true }, () => {
  test('240 lines is priced eight at a time, and stays far below the history limits', async () => {
    const sku = `WIDE-${Date.now()}-`;
    const order = anOrder({ lines: 240, sku });
    const { outcome, totals } = await carriedOut(order);
    assert.equal(outcome, 'completed');
    assert.equal(totals?.payable.minor, 240 * 4_000);
    const { events, atOnce } = await measured(order);
    assert.ok(atOnce <= quickPolicy.fanOut, `${atOnce} lines at once`);
    assert.ok(events < 2_500, `${events} events`);
  });
});

/** Events of the run's history, and how many activities were ever open at once. */
async function measured(order: Order) {
  const handle = bench.client.workflow.getHandle(runIdOf(orderIdOf(order)));
  const { events } = await handle.fetchHistory();
  let open = 0;
  let atOnce = 0;
  for (const event of events ?? []) {
    if (event.activityTaskScheduledEventAttributes) atOnce = Math.max(atOnce, ++open);
    if (event.activityTaskCompletedEventAttributes) open--;
  }
  return { events: events?.length ?? 0, atOnce };
}
