import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';

let bench: OrderBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

test('a plain order takes its nine steps, and every partner is asked once', async () => {
  const order = anOrder();
  const id = orderIdOf(order);
  assert.deepEqual(await bench.pipeline.submit(order, quickPolicy), { kind: 'started', id });
  const result = await bench.result(order);
  assert.equal(result.outcome, 'completed');
  console.log(JSON.stringify(result, null, 1), await bench.partners.counts(businessKey(id)));
});
