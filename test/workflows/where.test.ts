import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RunFilter, RunSummary } from '../../core/contract.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

/** Lists lag behind: polls until the run is there as wanted. */
async function listed(
  filter: RunFilter,
  wanted: (run: RunSummary) => boolean,
): Promise<RunSummary> {
  return until(`a run listed for ${JSON.stringify(filter)}`, async () => {
    const answer = await bench.pipeline.list(filter);
    assert.ok(answer.kind === 'runs');
    return answer.runs.find(wanted);
  });
}

describe('where', { concurrency: true }, () => {
  test('answers without a worker: before the first one, and after the last one is gone', async () => {
    const idle = await openBench({ worker: false });
    try {
      const order = anOrder({ unitPrice: '2000.00' });
      const id = orderIdOf(order);
      await idle.pipeline.submit(order, quickPolicy);
      const first = await idle.position(id);
      assert.deepEqual([first.step, first.status, first.attempts], ['validate', 'running', 0]);
      const stop = await idle.startWorker();
      await idle.until(id, ({ status }) => status === 'waiting');
      await stop();
      const { waitingFor, history } = await idle.position(id);
      assert.ok(waitingFor?.kind === 'person' && waitingFor.who === 'purchasing');
      assert.equal(history.at(-1)?.type, 'waiting');
    } finally {
      await idle.close();
    }
  });

  test('shows a step that is being retried, with its attempts, its last failure and when the next is due', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await bench.partners.setFault({
      partner: 'bureau',
      reference: businessKey(id),
      times: 2,
      effect: { kind: 'status', status: 429, retryAfter: 2 },
    });
    await bench.pipeline.submit(order, quickPolicy);
    const retrying = await bench.until(
      id,
      ({ status, nextAttemptAt }) => status === 'retrying' && nextAttemptAt !== undefined,
    );
    assert.equal(retrying.step, 'credit');
    assert.ok(retrying.attempts >= 2);
    assert.match(retrying.lastFailure ?? '', /429/);
    const found = await listed({ status: 'retrying' }, ({ id: { orderRef } }) => {
      return orderRef === order.orderRef;
    });
    assert.equal(found.status, 'retrying');
    const { outcome } = await bench.result(order);
    assert.equal(outcome, 'completed');
  });

  test('tells how many lines are priced while a worker answers', async () => {
    const sku = `SLOW-${Date.now()}-`;
    const fault = await bench.partners.setFault({
      partner: 'supplier',
      operation: 'quote',
      sku: `${sku}3`,
      effect: { kind: 'hang-before' },
    });
    const order = anOrder({ lines: 3, sku });
    const id = orderIdOf(order);
    await bench.pipeline.submit(order, { ...quickPolicy, partnerTimeoutMs: 15_000 });
    await bench.until(id, ({ progress }) => progress === '2 of 3 lines priced');
    await bench.partners.clearFault(fault);
    assert.equal((await bench.result(order)).outcome, 'completed');
  });

  test('of a run that never was is not found', async () => {
    const answer = await bench.pipeline.where({ buyerId: 'nobody', orderRef: 'none' });
    assert.deepEqual(answer, { kind: 'not-found' });
  });
});

describe('a list', { concurrency: true }, () => {
  test('finds runs by status, step, reference and buyer, and says what they wait for', async () => {
    const order = anOrder({ unitPrice: '2000.00', buyerId: `listed-${Date.now()}` });
    const id = orderIdOf(order);
    await bench.pipeline.submit(order, quickPolicy);
    const mine = (run: RunSummary) => run.id.orderRef === id.orderRef;
    for (const filter of [
      { status: 'waiting' },
      { step: 'approve' },
      { orderRef: id.orderRef },
      { buyerId: id.buyerId },
    ] as const) {
      const run = await listed(filter, (found) => mine(found) && found.status === 'waiting');
      assert.deepEqual(run, { ...run, id, step: 'approve', waitingFor: 'purchasing' });
    }
    await bench.pipeline.cancel(id, 'test', 'over');
    const ended = await listed({ status: 'ended', buyerId: id.buyerId }, mine);
    assert.equal(ended.outcome, 'cancelled');
    assert.ok(ended.endedAt !== undefined);
  });

  test('takes a reference with quotes and query words as a reference and nothing else', async () => {
    for (const orderRef of [
      `it's "${Date.now()}"`,
      `' OR OrderRef != '${Date.now()}`,
      `b\\'${Date.now()}`,
    ]) {
      const order = anOrder({ unitPrice: '2000.00' }, { orderRef });
      await bench.pipeline.submit(order, quickPolicy);
      await listed({ orderRef }, ({ id }) => id.orderRef === orderRef);
      const answer = await bench.pipeline.list({ orderRef });
      assert.ok(answer.kind === 'runs');
      assert.deepEqual(
        answer.runs.map(({ id }) => id.orderRef),
        [orderRef],
      );
      await bench.pipeline.cancel(orderIdOf(order), 'test', 'over');
    }
  });

  test('is no longer than asked for', async () => {
    const orders = [anOrder(), anOrder()];
    await Promise.all(orders.map((order) => bench.pipeline.submit(order, quickPolicy)));
    await Promise.all(orders.map((order) => bench.result(order)));
    await listed({}, ({ id }) => id.orderRef === orders[0]?.orderRef);
    const answer = await bench.pipeline.list({ limit: 1 });
    assert.ok(answer.kind === 'runs' && answer.runs.length === 1);
  });
});

test('an answer that no worker confirms is not confirmed, and counts once when it is repeated', async () => {
  const idle = await openBench({ worker: false, confirmWithinMs: 500 });
  try {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    await idle.pipeline.submit(order, quickPolicy);
    const stop = await idle.startWorker();
    await idle.until(id, ({ status }) => status === 'waiting');
    await stop();
    const yes = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ada' } as const;
    assert.equal((await idle.pipeline.decide(id, yes)).kind, 'not-confirmed');
    await idle.startWorker();
    await idle.until(id, () => true);
    const answers = [];
    do answers.push(await idle.pipeline.decide(id, yes));
    while (answers.at(-1)?.kind === 'not-confirmed');
    assert.deepEqual(answers.at(-1), { kind: 'accepted' });
    const { position } = await idle.result(order);
    assert.equal(position.history.filter(({ type }) => type === 'decided').length, 1);
  } finally {
    await idle.close();
  }
});
