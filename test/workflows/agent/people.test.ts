import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { agentRunIdOf, orderIdOfRequest, requestIdOf } from '../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { businessKey } from '../../../core/identity.ts';
import { fastForward } from '../../../lab/time/temporal.ts';
import { anAsk, openAgentBench, REQUEST } from '../../support/agent-bench.ts';
import type { AgentBench } from '../../support/agent-bench.ts';

const HOUR = 3_600_000;
const question = { gate: 'question', gateVersion: 1, by: 'Ann' } as const;
const approval = { gate: 'approval', gateVersion: 1, by: 'Bob' } as const;
/** The approval of these is wanted whatever it comes to. */
const dear = { limits: { approvalLimits: {} } };

let bench: AgentBench;
before(async () => {
  bench = await openAgentBench();
});
after(() => bench.close());

async function asked(ask: AgentAsk) {
  await bench.agent.ask(ask);
  return requestIdOf(ask.request);
}

async function waiting(ask: AgentAsk) {
  const id = await asked(ask);
  const position = await bench.until(id, ({ status }) => status === 'waiting');
  return { id, position };
}

describe('a question', { concurrency: true }, () => {
  test('is asked, answered in words, and the answer is what the model goes on with', async () => {
    const { id, position } = await waiting(anAsk(`${REQUEST}, ask me first`));
    assert.equal(position.step, 'ask');
    assert.match(JSON.stringify(position.question), /Which colour/);
    const { waitingFor } = position;
    assert.ok(waitingFor?.kind === 'person');
    assert.deepEqual([waitingFor.gate, waitingFor.who], ['question', 'requester']);
    // To the wrong gate, of the wrong kind, and then as it should be; repeated, and contradicted.
    const early = await bench.agent.answer(id, { ...approval, decision: 'approve' });
    const noWords = await bench.agent.answer(id, { ...question, decision: 'approve' });
    const yes = await bench.agent.answer(id, { ...question, text: 'blue' });
    const again = await bench.agent.answer(id, { ...question, text: 'blue' });
    const other = await bench.agent.answer(id, { ...question, by: 'Eve', text: 'red' });
    const conflicts = [early, noWords, other].map((each) => 'conflict' in each && each.conflict);
    assert.deepEqual(conflicts, ['early', 'wrong-gate', 'second']);
    assert.deepEqual([yes.kind, again.kind], ['accepted', 'accepted']);
    const { outcome, position: end } = await bench.result(id);
    assert.equal(outcome, 'completed');
    assert.equal(end.question, undefined);
    const kinds = end.history.map(({ type }) => type);
    assert.equal(kinds.filter((type) => type === 'decision-conflict').length, 3);
    assert.equal(kinds.filter((type) => type === 'decided').length, 1);
    const late = await bench.agent.answer(id, { ...question, text: 'green' });
    assert.ok(late.kind === 'conflict' && late.conflict === 'ended');
  });

  test('that nobody answers is brought to mind, taken higher up, and then done without', async () => {
    const { id } = await waiting(anAsk(`${REQUEST}, ask me first`));
    await fastForward(bench.client, agentRunIdOf(id), 73 * HOUR);
    const { outcome, position } = await bench.result(id);
    assert.equal(outcome, 'completed');
    const kinds = position.history.map(({ type }) => type);
    assert.ok(kinds.includes('reminded') && kinds.includes('escalated'));
  });

  test('malformed is refused before the run hears of it', async () => {
    const { id } = await waiting(anAsk(`${REQUEST}, ask me first`));
    await assert.rejects(bench.agent.answer(id, { ...question, text: '' }), /text must be a text/);
    await bench.agent.cancel(id, 'Ann', 'no need');
    const { outcome, reason, position } = await bench.result(id);
    assert.deepEqual([outcome, reason], ['cancelled', 'no need']);
    assert.ok(!position.history.some(({ type }) => type === 'decision-conflict'));
  });
});

describe('an order that needs a person', { concurrency: true }, () => {
  test('is placed when the answer is yes', async () => {
    const { id, position } = await waiting(anAsk(REQUEST, dear));
    assert.deepEqual(position.order, { id: orderIdOfRequest(id), started: false });
    await bench.agent.answer(id, { ...approval, decision: 'approve' });
    assert.equal((await bench.result(id)).outcome, 'completed');
  });

  test('is not when it is no', async () => {
    const { id } = await waiting(anAsk(REQUEST, dear));
    await bench.agent.answer(id, { ...approval, decision: 'reject', note: 'too dear' });
    const { outcome, reason } = await bench.result(id);
    assert.deepEqual([outcome, reason], ['rejected', 'rejected by Bob']);
    const { order } = await bench.partners.counts(businessKey(orderIdOfRequest(id)));
    assert.equal(order, 0);
  });

  test('is not when nobody answers', async () => {
    const { id } = await waiting(anAsk(REQUEST, dear));
    await fastForward(bench.client, agentRunIdOf(id), 73 * HOUR);
    assert.equal((await bench.result(id)).outcome, 'expired');
  });
});

test('lists have the agent’s runs apart from the orders’', async () => {
  const { id } = await waiting(anAsk(`${REQUEST}, ask me first`, { buyerId: 'lister' }));
  const listed = await bench.agent.list({ buyerId: 'lister', status: 'waiting', step: 'ask' });
  assert.ok(listed.kind === 'runs');
  assert.deepEqual(
    listed.runs.map((run) => run.id),
    [id],
  );
  const orders = await bench.orders.list({ buyerId: 'lister' });
  assert.deepEqual(orders, { kind: 'runs', runs: [] });
  await bench.agent.cancel(id, 'Ann', 'seen');
  await bench.result(id);
});
