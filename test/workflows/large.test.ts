import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

/** Two thousand take a minute and a half on two cores; the rule is the same with two and a half children. */
const LINES = process.env['Q2T_TEST_FULL'] === undefined ? 600 : 2_000;

test(`an order of ${LINES} lines is priced by children, one after the other, none of them near the limits`, async () => {
  const order = anOrder({ lines: LINES, unitPrice: '0.40' });
  await bench.pipeline.submit(order, { ...quickPolicy, attemptTimeoutMs: 60_000 });
  const { outcome, totals } = await bench.result(order, 240_000);
  assert.equal(outcome, 'completed');
  assert.equal(totals?.payable.minor, LINES * 400);
  const workflowId = runIdOf(orderIdOf(order));
  const eventsOf = async (id: string) => {
    const { historyLength } = await bench.client.workflow.getHandle(id).describe();
    return historyLength;
  };
  assert.ok((await eventsOf(workflowId)) < 250);
  for (let n = 0; n < Math.ceil(LINES / 250); n++)
    assert.ok((await eventsOf(`${workflowId}/lines/${n}`)) < 2_500);
});
