import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOfRequest, requestIdOf } from '../../../core/agent/identity.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import { openFileStore } from '../../../agent/store/files.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { businessKey } from '../../../core/identity.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { eventsOf, storyOf } from '../support/bench.ts';
import { anAsk, openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

const TO_AN_ORDER = [
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
];

describe('the paths of the agent on the queue', () => {
  let bench: AgentBench;
  before(async () => {
    bench = await openAgentBench();
  });
  after(() => bench.close());

  test('it comes to a completed order, and the model was paid for each turn once', async () => {
    const id = await bench.asked();
    const position = await bench.ended(id);
    assert.deepEqual(storyOf(position), ['started', ...TO_AN_ORDER]);
    const { spent, order, version, outcome } = position;
    assert.deepEqual([spent.calls, spent.lostCalls, version, outcome], [4, 0, '2', 'completed']);
    assert.equal(await bench.completions(id), spent.calls);
    const orderId = orderIdOfRequest(id);
    assert.deepEqual(order, { id: orderId, started: true });
    const { charge, order: placed } = await bench.orders.partners.counts(businessKey(orderId));
    assert.deepEqual([charge, placed], [1, 1]);
    assert.equal((await bench.orders.position(orderId)).outcome, 'completed');

    // What the events say was spent is what was spent.
    const thoughts = eventsOf(position).filter((event) => event.type === 'thought');
    const sum = (of: (event: (typeof thoughts)[number]) => number) =>
      thoughts.reduce((total, event) => total + of(event), 0);
    assert.equal(
      sum(({ tokens }) => tokens),
      spent.inputTokens + spent.outputTokens,
    );
    assert.equal(
      sum(({ nanoEur }) => nanoEur),
      spent.nanoEur,
    );
    const place = await bench.agent.transcript(id);
    assert.ok(place.kind === 'position');
    const store = await openFileStore(bench.parts.storeDir);
    assert.equal((await readEntries(store, place.position.head)).length, 4);
  });

  test('the same request is one run, another one under its reference a conflict', async () => {
    const asked = anAsk();
    const id = requestIdOf(asked.request);
    assert.deepEqual(await bench.agent.ask(asked), { kind: 'started', id });
    assert.deepEqual(await bench.agent.ask(asked), { kind: 'already-running', id });
    const other = { ...asked, request: { ...asked.request, text: '1 desk' } };
    assert.equal((await bench.agent.ask(other)).kind, 'conflict');
    await bench.ended(id);
    const again = await bench.agent.ask(asked);
    assert.deepEqual(again, { kind: 'already-finished', id, outcome: 'completed' });
    assert.equal(await bench.completions(id), 4);
  });

  test('what nobody sells for that ends as refused, with the reason of the model', async () => {
    const id = await bench.asked('40 office chairs under 1 euro each');
    const { outcome, reason, order } = await bench.ended(id);
    assert.deepEqual([outcome, order], ['refused', undefined]);
    assert.match(reason ?? '', /nobody sells it for 1/);
  });

  test('a budget of turns or of money ends the run before the call that could pass it', async () => {
    const turns = await bench.asked('[model: endless]', { limits: { maxTurns: 3 } });
    const some = { maxNanoEur: 3_000_000 };
    const money = await bench.asked('[model: endless]', { limits: some });
    const none = await bench.asked('[model: endless]', { limits: { maxNanoEur: 1_000 } });
    const ended = await bench.ended(turns);
    assert.deepEqual([ended.outcome, ended.turn], ['exhausted', 3]);
    assert.match(ended.reason ?? '', /3 turns are used up/);
    const { outcome, reason, spent, budget } = await bench.ended(money);
    assert.equal(outcome, 'exhausted');
    assert.match(reason ?? '', /one more call could pass the budget of money/);
    assert.ok(spent.calls > 0 && spent.nanoEur <= some.maxNanoEur, JSON.stringify(spent));
    assert.equal(budget.maxNanoEur, some.maxNanoEur);
    assert.equal(await bench.completions(money), spent.calls);
    assert.equal((await bench.ended(none)).outcome, 'exhausted');
    assert.equal(await bench.completions(none), 0);
  });

  test('answers that make no sense are sent back, and too many of them end the run', async () => {
    const sometimes = await bench.asked('40 office chairs [model: malformed 2]');
    const always = await bench.asked('40 office chairs [model: wrong-arguments]');
    const better = await bench.ended(sometimes);
    assert.deepEqual([better.outcome, better.spent.calls], ['completed', 6]);
    const worse = await bench.ended(always);
    assert.deepEqual([worse.outcome, worse.spent.calls], ['exhausted', 4]);
    assert.match(worse.reason ?? '', /4 answers in a row could not be used/);
  });

  test('runs of the agent and orders go side by side, and neither is in the lists of the other', async () => {
    const orders = [anOrder(), anOrder()];
    for (const order of orders) await bench.orders.pipeline.submit(order, quickPolicy);
    const asked = [await bench.asked(), await bench.asked()];
    for (const id of asked) assert.equal((await bench.ended(id)).outcome, 'completed');
    for (const order of orders) {
      assert.equal((await bench.orders.ended(orderIdOf(order))).outcome, 'completed');
    }
    const [id] = asked;
    assert.ok(id);
    const { orderRef } = id;
    const found = await bench.agent.list({ requestRef: orderRef, status: 'ended', step: 'order' });
    assert.ok(found.kind === 'runs');
    assert.deepEqual(
      found.runs.map((run) => run.id),
      [id],
    );
    assert.deepEqual(await bench.orders.pipeline.list({ orderRef }), { kind: 'runs', runs: [] });
    const refs = orders.map((order) => order.orderRef);
    const all = await bench.agent.list();
    assert.ok(all.kind === 'runs' && all.runs.every((run) => !refs.includes(run.id.orderRef)));
    assert.equal((await bench.orders.pipeline.where(id)).kind, 'not-found');
    assert.equal((await bench.agent.where(orderIdOfRequest(id))).kind, 'not-found');
  });

  test('an order that is there already under its reference is followed when it is the same', async () => {
    const first = await bench.asked();
    await bench.ended(first);
    const { rows } = await bench.orders.pool.query<{ content: unknown }>(
      'SELECT order_content AS content FROM queue.run_input WHERE run_id = $1',
      [businessKey(orderIdOfRequest(first))],
    );
    const asked = anAsk();
    const id = requestIdOf(asked.request);
    const order = { ...(rows[0]?.content as object), orderRef: `${id.orderRef}-PO` };
    await bench.orders.pipeline.submit(order as ReturnType<typeof anOrder>, quickPolicy);
    await bench.agent.ask(asked);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    const counts = await bench.orders.partners.counts(businessKey(orderIdOfRequest(id)));
    assert.equal(counts.charge, 1);
  });

  test('another order under its reference is a case for an operator', async () => {
    const asked = anAsk();
    const id = requestIdOf(asked.request);
    const other = { ...anOrder(), orderRef: `${id.orderRef}-PO` };
    await bench.orders.pipeline.submit(other, quickPolicy);
    await bench.agent.ask(asked);
    const { step } = await bench.until(id, ({ status }) => status === 'stuck');
    assert.equal(step, 'order');
    const why = { by: 'Ann', why: 'asked anew' };
    assert.deepEqual(await bench.agent.deadLetters.discard(id, why), { kind: 'accepted' });
    assert.equal((await bench.ended(id)).outcome, 'discarded');
    assert.equal((await bench.orders.ended(orderIdOf(other))).outcome, 'completed');
  });
});
