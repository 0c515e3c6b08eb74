import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOfRequest, requestIdOf } from '../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import { businessKey } from '../../../core/identity.ts';
import { ONCE } from '../../../lab/observe/effects.ts';
import { anAsk, openAgentBench } from '../../support/agent-bench.ts';
import type { AgentBench } from '../../support/agent-bench.ts';
import { happened } from '../../support/counts.ts';

let bench: AgentBench;
before(async () => {
  bench = await openAgentBench();
});
after(() => bench.close());

async function carriedOut(asked: AgentAsk) {
  const id = requestIdOf(asked.request);
  assert.equal((await bench.agent.ask(asked)).kind, 'started');
  const result = await bench.result(id);
  const { completion } = await bench.partners.counts(businessKey(id));
  return { ...result, id, completion };
}

describe('a request', { concurrency: true }, () => {
  test('becomes an order that is carried out once, and every answer of the model is counted', async () => {
    const { id, outcome, reason, position, completion } = await carriedOut(anAsk());
    assert.equal(outcome, 'completed', reason);
    assert.equal(completion, position.spent.calls);
    assert.equal(position.turn, completion);
    assert.equal(position.spent.lostCalls, 0);
    assert.equal(position.version, '2');
    const orderId = orderIdOfRequest(id);
    assert.deepEqual(position.order, { id: orderId, started: true });
    assert.deepEqual(happened(await bench.partners.counts(businessKey(orderId))), ONCE);
    const order = await bench.orders.where(orderId);
    assert.equal(order.kind === 'position' && order.position.outcome, 'completed');
    const types = position.history.map(({ type }) => type);
    assert.deepEqual(types, [
      'started',
      'thought',
      'used',
      'thought',
      'used',
      'thought',
      'used',
      'thought',
      'order-started',
      'order-ended',
      'ended',
    ]);
  });

  test('that has ended answers where, transcript and a second ask without its worker', async () => {
    const asked = anAsk();
    const { id, completion } = await carriedOut(asked);
    const place = await bench.agent.transcript(id);
    assert.ok(place.kind === 'position');
    assert.equal((await readEntries(bench.store, place.position.head)).length, completion);
    const again = await bench.agent.ask(asked);
    assert.deepEqual(again, { kind: 'already-finished', id, outcome: 'completed' });
    const other = { ...asked, request: { ...asked.request, text: 'something else' } };
    assert.equal((await bench.agent.ask(other)).kind, 'conflict');
  });
});

describe('B22: an input that is no request', { concurrency: true }, () => {
  const { price, promptSizes, ...rest } = anAsk();
  for (const [what, args] of [
    ['nothing at all', []],
    ['a text', ['4 chairs']],
    ['a request without the sizes of its prompts', [{ ...rest, price }]],
    ['a request without a price', [{ ...rest, promptSizes, price: null }]],
  ] as const) {
    test(`${what} fails the run at once, instead of its workflow task for ever`, async () => {
      const workflowId = `bad-input-${crypto.randomUUID()}`;
      const { taskQueue } = bench;
      const started = { workflowId, taskQueue, args: [...args] };
      const handle = await bench.client.workflow.start('buyingAgent', started);
      await assert.rejects(handle.result(), (error: Error) => {
        assert.match(String(error.cause), /no request/);
        return true;
      });
    });
  }
});
