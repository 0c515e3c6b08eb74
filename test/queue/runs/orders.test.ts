import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench, storyOf } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { ONCE } from '../../../lab/observe/effects.ts';
import { happened } from '../../support/counts.ts';

describe('an order on the queue', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  test('goes through its ten steps with each effect once', async () => {
    const order = anOrder();
    const id = orderIdOf(order);
    assert.deepEqual(await bench.pipeline.submit(order, quickPolicy), { kind: 'started', id });
    const position = await bench.ended(id);
    assert.equal(position.outcome, 'completed');
    assert.deepEqual(storyOf(position), [
      'started',
      'step-done validate',
      'step-done price',
      'step-done credit',
      'step-done screen',
      'step-done reserve',
      'step-done approve',
      'step-done charge',
      'step-done place',
      'step-done invoice',
      'step-done close',
      'ended completed',
    ]);
    const counts = await bench.partners.counts(order.buyer.id + '/' + order.orderRef);
    assert.deepEqual(happened(counts), ONCE);
  });
});
