import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOfRequest } from '../../../core/agent/identity.ts';
import { businessKey } from '../../../core/identity.ts';
import { storyOf } from '../support/bench.ts';
import { openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

describe('a run of the agent on the queue', () => {
  let bench: AgentBench;
  before(async () => {
    bench = await openAgentBench();
  });
  after(() => bench.close());

  test('comes to a completed order, and the model was paid for each turn once', async () => {
    const id = await bench.asked();
    const position = await bench.ended(id);
    assert.deepEqual(storyOf(position), [
      'started',
      'thought search',
      'used search',
      'thought quote quote quote',
      'used quote quote quote',
      'thought budget',
      'used budget',
      'thought submit',
      'order-started',
      'order-ended completed',
      'ended completed',
    ]);
    const { spent, order, version, outcome } = position;
    assert.deepEqual([spent.calls, spent.lostCalls, version, outcome], [4, 0, '2', 'completed']);
    assert.equal(await bench.completions(id), spent.calls);
    const orderId = orderIdOfRequest(id);
    assert.deepEqual(order, { id: orderId, started: true });
    const { charge, order: placed } = await bench.orders.partners.counts(businessKey(orderId));
    assert.deepEqual([charge, placed], [1, 1]);
    assert.equal((await bench.orders.position(orderId)).outcome, 'completed');
  });
});
