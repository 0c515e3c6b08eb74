import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOfRequest, requestIdOf } from '../../../core/agent/identity.ts';
import { businessKey } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { storyOf } from '../support/bench.ts';
import { CHAIRS, anAsk, openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

const HOUR = 3_600_000;
const ASK_FIRST = `${CHAIRS}, ask me first`;

describe('people, orders and the agent on the queue', () => {
  let bench: AgentBench;
  before(async () => {
    bench = await openAgentBench();
  });
  after(() => bench.close());

  const asking = (words: string, limits = {}) => bench.asked(words, { limits });
  const waiting = (id: Awaited<ReturnType<typeof asking>>) =>
    bench.until(id, ({ status }) => status === 'waiting');

  test('a question is answered once, with words, by name and version', async () => {
    const id = await asking(ASK_FIRST);
    const { step, question, waitingFor } = await waiting(id);
    assert.ok(question?.gate === 'question');
    assert.match(question.text, /Which colour/);
    assert.equal(step, 'ask');
    assert.ok(waitingFor?.kind === 'person');
    assert.deepEqual(
      [waitingFor.gate, waitingFor.gateVersion, waitingFor.who],
      ['question', 1, 'requester'],
    );
    const words = { gate: 'question', gateVersion: 1, by: 'Ann', text: 'blue' };
    const answer: typeof bench.agent.answer = (...given) => bench.agent.answer(...given);
    const yes = { gate: 'question', gateVersion: 1, by: 'Ann', decision: 'approve' } as const;
    const wrong = [
      await answer(id, yes),
      await answer(id, { ...words, gateVersion: 2 }),
      await answer(id, { ...words, gate: 'approval' }),
    ];
    const kinds = wrong.map((each) => (each.kind === 'conflict' ? each.conflict : each.kind));
    assert.deepEqual(kinds, ['wrong-gate', 'wrong-gate', 'early']);
    assert.deepEqual(await answer(id, words), { kind: 'accepted' });
    assert.deepEqual(await answer(id, words), { kind: 'accepted' });
    const second = await answer(id, { ...words, text: 'red' });
    assert.equal(second.kind === 'conflict' && second.conflict, 'second');
    const ended = await bench.ended(id);
    assert.equal(ended.outcome, 'completed');
    const late = await answer(id, words);
    assert.equal(late.kind === 'conflict' && late.conflict, 'ended');
    const long = answer(id, { ...words, text: 'x'.repeat(1_001) });
    await assert.rejects(long, /text must be a text of 1 to 1000 characters, not 1001/);
    const told = (await bench.position(id)).history.filter(({ type }) => type.startsWith('deci'));
    assert.deepEqual(
      told.map((event) => ('conflict' in event ? event.conflict : event.type)),
      ['wrong-gate', 'wrong-gate', 'early', 'decided', 'second', 'ended'],
    );
  });

  test('who says nothing is reminded, then somebody else is asked, then the model is told', async () => {
    const id = await asking(ASK_FIRST);
    await waiting(id);
    await bench.shift(id, 4 * HOUR);
    await bench.until(id, ({ history }) => history.some(({ type }) => type === 'reminded'));
    await bench.shift(id, 20 * HOUR);
    const escalated = await bench.until(
      id,
      ({ waitingFor }) => waitingFor?.kind === 'person' && waitingFor.who === 'finance-director',
    );
    assert.equal(escalated.status, 'waiting');
    await bench.shift(id, 48 * HOUR);
    const ended = await bench.ended(id);
    // The model buys all the same.
    assert.equal(ended.outcome, 'completed');
    const story = storyOf(ended);
    const about = ['waiting ask', 'reminded', 'escalated', 'thought ask'];
    assert.deepEqual(
      story.filter((each) => about.includes(each)),
      ['thought ask', 'waiting ask', 'reminded', 'escalated'],
    );
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
});
