import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

const submit: OrderBench['pipeline']['submit'] = (order) =>
  bench.pipeline.submit(order, quickPolicy);

describe('B23: an order that is sent again', { concurrency: true }, () => {
  test('while its run is open is already running, and nothing starts', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    assert.deepEqual(await submit(order), { kind: 'started', id });
    assert.deepEqual(await submit(structuredClone(order)), { kind: 'already-running', id });
    await bench.pipeline.cancel(id, 'test', 'over');
  });

  test('after its run has ended is already finished, with the outcome, and nothing is charged again', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    await submit(order);
    await bench.result(order);
    const again = await submit(order);
    assert.deepEqual(again, { kind: 'already-finished', id, outcome: 'completed' });
    assert.equal((await bench.partners.counts(businessKey(id))).charge, 1);
  });

  test('after its run was terminated is already finished too, and does not start anew', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    await submit(order);
    await bench.client.workflow.getHandle(runIdOf(id)).terminate('by hand');
    assert.deepEqual(await submit(order), { kind: 'already-finished', id });
    const { status, reason } = await bench.position(id);
    assert.equal(status, 'ended');
    assert.match(reason ?? '', /terminated/);
  });

  test('with other content is a conflict, running or ended', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    const other = { ...order, tax: '1' };
    await submit(order);
    assert.equal((await submit(other)).kind, 'conflict');
    await bench.result(order);
    assert.equal((await submit(other)).kind, 'conflict');
    assert.deepEqual((await bench.partners.counts(businessKey(id))).charge, 1);
  });

  test('ten times at once starts once', async () => {
    const order = anOrder();
    const answers = await Promise.all(Array.from({ length: 10 }, () => submit(order)));
    assert.equal(answers.filter(({ kind }) => kind === 'started').length, 1);
    await bench.result(order);
  });

  test('under a reference that only another buyer has used is an order of its own', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    const other = { ...order, buyer: { ...order.buyer, id: 'another' } };
    assert.equal((await submit(order)).kind, 'started');
    assert.equal((await submit(other)).kind, 'started');
    for (const each of [order, other]) {
      await bench.pipeline.cancel(orderIdOf(each), 'test', 'over');
    }
  });
});

describe('B22: an input that is no order', { concurrency: true }, () => {
  for (const [what, args] of [
    ['nothing at all', []],
    ['a text', ['PO-1']],
    ['an order without a policy', [{ order: anOrder(), revision: 1 }]],
    ['an order without lines', [{ order: { ...anOrder(), lines: null }, policy: quickPolicy }]],
  ] as const) {
    test(`${what} fails the run at once, instead of its workflow task for ever`, async () => {
      const workflowId = `bad-input-${crypto.randomUUID()}`;
      const { taskQueue } = bench;
      const started = { workflowId, taskQueue, args: [...args] };
      const handle = await bench.client.workflow.start('purchaseOrder', started);
      await assert.rejects(handle.result(), (error: Error) => {
        assert.match(String(error.cause), /no order/);
        return true;
      });
    });
  }
});
