import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import { resetToStart } from '../../replay/record/moves.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

test('an order reset to before its pricing child was started, while that child runs, prices those lines itself', async () => {
  const order = anOrder({ lines: 260, unitPrice: '0.40' });
  const workflowId = runIdOf(orderIdOf(order));
  const faultId = await bench.partners.setFault({
    partner: 'supplier',
    operation: 'quote',
    effect: { kind: 'hang-before' },
  });
  await bench.pipeline.submit(order, { ...quickPolicy, partnerTimeoutMs: 20_000 });
  await heldQuotes(faultId, quickPolicy.fanOut);
  await resetToStart(bench.client, orderIdOf(order));
  await heldQuotes(faultId, 2 * quickPolicy.fanOut);
  const child = bench.client.workflow.getHandle(`${workflowId}/lines/0`);
  assert.equal((await child.describe()).status.name, 'RUNNING');
  const { events } = await bench.client.workflow.getHandle(workflowId).fetchHistory();
  assert.ok(events?.some((event) => event.startChildWorkflowExecutionFailedEventAttributes));
  // What the run prices from here on, it prices alone.
  await child.cancel();
  await bench.partners.clearFault(faultId);

  const { outcome, totals } = await bench.result(order);
  assert.equal(outcome, 'completed');
  assert.equal(totals?.payable.minor, 260 * 400);
  const { charge, order: placed } = await bench.partners.counts(businessKey(orderIdOf(order)));
  assert.deepEqual({ charge, placed }, { charge: 1, placed: 1 });
});

async function heldQuotes(faultId: string, count: number): Promise<void> {
  await until(`${count} held quotes`, async () => {
    return (await bench.partners.held({ faultId })).length === count;
  });
}
