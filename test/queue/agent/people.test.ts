import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { storyOf } from '../support/bench.ts';
import { CHAIRS, openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

const HOUR = 3_600_000;
const ASK_FIRST = `${CHAIRS}, ask me first`;

describe('people and the agent on the queue', () => {
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

  test('an order above the limit waits for a yes, and a no or silence ends the run', async () => {
    const limits = { approvalLimits: { EUR: '10' } };
    const [yes, no, nobody] = [
      await asking(CHAIRS, limits),
      await asking(CHAIRS, limits),
      await asking(CHAIRS, limits),
    ];
    for (const id of [yes, no, nobody]) {
      const { question, order } = await waiting(id);
      assert.equal(question?.gate, 'approval');
      assert.equal(order?.started, false);
    }
    const answer = { gate: 'approval', gateVersion: 1, by: 'Bob' };
    const words = await bench.agent.answer(yes, { ...answer, text: 'well' });
    assert.equal(words.kind === 'conflict' && words.conflict, 'wrong-gate');
    await bench.agent.answer(yes, { ...answer, decision: 'approve', note: 'fine' });
    await bench.agent.answer(no, { ...answer, decision: 'reject' });
    await bench.shift(nobody, 72 * HOUR);
    const bought = await bench.ended(yes);
    assert.equal(bought.outcome, 'completed');
    const decided = bought.history.find(({ type }) => type === 'decided');
    assert.ok(decided?.type === 'decided');
    assert.deepEqual([decided.decision, decided.note], ['approve', 'fine']);
    const rejected = await bench.ended(no);
    assert.deepEqual(
      [rejected.outcome, rejected.reason, rejected.question],
      ['rejected', 'rejected by Bob', undefined],
    );
    assert.equal((await bench.ended(nobody)).outcome, 'expired');
    const late = await bench.agent.answer(nobody, { ...answer, decision: 'approve' });
    assert.equal(late.kind === 'conflict' && late.conflict, 'late');
  });
});
