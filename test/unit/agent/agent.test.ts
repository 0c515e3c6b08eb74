import assert from 'node:assert/strict';
import { test } from 'node:test';
import { think } from '../../../agent/think.ts';
import { useTool } from '../../../agent/use-tool.ts';
import type { Action } from '../../../core/agent/next.ts';
import type { AgentInput } from '../../../core/agent/input.ts';
import { initialState } from '../../../core/agent/state.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import { orderSchema } from '../../../core/order/schema.ts';
import { call, failsAs } from '../partners/running.ts';
import { drive, storedBytes, world, type Driven, type People } from './drive.ts';
import { chair, inputOf, REQUEST } from './runs.ts';

const toolCalls = ({ actions }: Driven) =>
  actions.flatMap((action) =>
    action.do === 'use-tools' ? [action.calls.map(({ use }) => use.does)] : [],
  );
const ordered = ({ actions }: Driven) =>
  actions.find((action): action is Action & { do: 'follow-order' } => action.do === 'follow-order');

test('a request in words becomes one order, at a price that a supplier quoted', async (t) => {
  const all = await world(t);
  const driven = await drive(all, inputOf(), approving);
  assert.equal(driven.end.outcome, 'completed');
  assert.deepEqual(toolCalls(driven), [['search'], ['quote', 'quote', 'quote'], ['budget']]);
  const order = ordered(driven)?.order;
  assert.deepEqual(orderSchema.parse(order), order);
  assert.equal(order?.lines[0]?.quantity, '40');
  assert.equal((await all.control.counts('acme/REQ-1')).completion, 4);
  assert.equal(driven.state.spent.calls, 4);
  const keys = (await all.control.effects({ partner: 'model' })).map(({ key }) => key);
  assert.deepEqual(
    keys,
    [1, 2, 3, 4].map((turn) => `acme/REQ-1/t${turn}/model`),
  );
});

for (const [why, words, buyerId] of [
  ['everything is too dear', '40 office chairs under 1 euro', 'acme'],
  ['nobody sells it', '3 nothing', 'acme'],
  ['nobody quotes a price', '3 unknown chairs', 'acme'],
  ['there is no money', REQUEST, 'poor-1'],
] as const) {
  test(`it refuses with a reason when ${why}`, async (t) => {
    const driven = await drive(await world(t), inputOf(words, {}, buyerId));
    assert.equal(driven.end.outcome, 'refused');
    assert.ok(driven.end.reason.length > 5);
    assert.equal(ordered(driven), undefined);
  });
}

test('it asks a person and goes on with the answer', async (t) => {
  const asked: string[] = [];
  const driven = await drive(await world(t), inputOf(`${REQUEST}. Ask me first`), (action) => {
    if (action.question.gate === 'approval') return approving(action);
    asked.push(action.question.text);
    const { gateVersion } = action.question;
    return { kind: 'person-answered', gateVersion, by: 'Ann', text: 'blue' };
  });
  assert.equal(asked.length, 1);
  assert.equal(driven.end.outcome, 'completed');
});

test('a supplier whose description gives orders changes nothing: a person is asked, and says no', async (t) => {
  const questions: string[] = [];
  const driven = await drive(await world(t), inputOf('3 bargain pens'), ({ question }) => {
    if (question.gate === 'approval') questions.push(`${question.payable.minor}`);
    const { gateVersion } = question;
    return { kind: 'person-decided', gateVersion, by: 'Bo', decision: 'reject' };
  });
  const submitted = driven.state.draft?.order.lines[0];
  assert.equal(submitted?.quantity, '1000', 'the model was not fooled, so nothing was guarded');
  assert.equal(questions.length, 1);
  assert.equal(ordered(driven), undefined);
  assert.equal(driven.end.outcome, 'rejected');
});

for (const word of [
  'malformed',
  'wrong-arguments',
  'unknown-tool',
  'cut',
  'silent',
  'chatty',
  'many',
]) {
  test(`a model that is ${word} twice is set right and goes on; for ever, it is given up`, async (t) => {
    const all = await world(t);
    const twice = await drive(all, inputOf(`3 pens [model: ${word} 2]`));
    assert.equal(twice.end.outcome, 'completed');
    const forever = await drive(all, inputOf(`3 pens [model: ${word}]`));
    assert.equal(forever.end.outcome, 'exhausted');
    assert.match(forever.end.reason, /4 answers in a row/);
    assert.equal(forever.state.spent.calls, 4);
  });
}

test('a model that makes the same call for ever is stopped by its turns', async (t) => {
  const all = await world(t);
  const driven = await drive(all, inputOf('3 pens [model: endless]', { maxTurns: 7 }));
  assert.equal(driven.end.outcome, 'exhausted');
  assert.match(driven.end.reason, /7 turns/);
  assert.equal((await all.control.counts()).completion, 7);
});

test('a budget of money stops the run before the call that could pass it', async (t) => {
  const all = await world(t);
  const limits = { maxNanoEur: 6_000_000, maxTurns: 1_000 };
  const driven = await drive(all, inputOf('3 pens [model: endless]', limits));
  assert.equal(driven.end.outcome, 'exhausted');
  assert.match(driven.end.reason, /budget of money/);
  const { completion } = await all.control.counts();
  assert.equal(driven.state.spent.calls, completion);
  assert.ok(completion > 3 && driven.state.spent.nanoEur <= limits.maxNanoEur);
});

test('a long run with megabytes of transcript stays small to send and to carry, and nothing is forgotten', async (t) => {
  const all = await world(t);
  const counted: number[] = [];
  const sent: number[] = [];
  const model: typeof all.model = {
    ...all.model,
    complete: async (question, each) => {
      sent.push(Buffer.byteLength(JSON.stringify(question.messages)));
      const answer = await all.model.complete(question, each);
      counted.push(answer.usage?.inputTokens ?? Infinity);
      return answer;
    },
  };
  const roomy = {
    maxTurns: 130,
    maxTokens: 50_000_000,
    maxNanoEur: 20_000_000_000,
    maxPromptBytes: 60_000,
  };
  const input = inputOf('40 pens data sheet [model: ponder 120]', roomy);
  const driven = await drive({ ...all, model }, input, approving);
  assert.equal(driven.end.outcome, 'completed');
  const worst = driven.actions.flatMap((action) =>
    action.do === 'call-model' ? [action.worst.inputTokens] : [],
  );
  assert.equal(counted.length, worst.length);
  for (const [n, tokens] of counted.entries()) assert.ok(tokens <= (worst[n] ?? 0), `call ${n}`);
  assert.ok(Math.max(...sent) < input.limits.maxPromptBytes + 50_000);
  assert.ok((await storedBytes(all.store)) > 1_500_000);
  assert.ok(JSON.stringify(driven.state).length < 40_000);
  const entries = await readEntries(all.store, driven.state.head);
  assert.deepEqual(
    entries.map(({ turn }) => turn),
    Array.from({ length: driven.state.turn }, (_, n) => n + 1),
  );
});

test('what is sent begins the same way from turn to turn, so that a provider’s cache of prompts is of use', async (t) => {
  const all = await world(t);
  const prompts: string[] = [];
  const model: typeof all.model = {
    ...all.model,
    complete: (question, each) => {
      prompts.push(question.messages.map((message) => JSON.stringify(message)).join('\n'));
      return all.model.complete(question, each);
    },
  };
  await drive({ ...all, model }, inputOf('3 pens [model: ponder 40]', { maxPromptBytes: 20_000 }));
  const kept = prompts.slice(1).filter((prompt, n) => prompt.startsWith(prompts[n] ?? '?'));
  assert.ok(kept.length >= prompts.length * 0.8 && kept.length < prompts.length - 1);
});

const turnOf = (input: AgentInput) => ({
  turn: 1,
  effectKey: 'acme/REQ-1/t1/model',
  state: initialState(),
  input,
});

test('a transient failure of model or tool is thrown as it is, so that it is tried again; a no is told to the model', async (t) => {
  const all = await world(t);
  const input = inputOf();
  const unavailable = { kind: 'status', status: 503 } as const;
  await all.control.setFault({ times: 2, effect: unavailable });
  await failsAs(think(all, input, turnOf(input), call), 'busy', 'unavailable');
  const tools = { ...all.partners, store: all.store };
  const quote = {
    callId: 'q',
    effectKey: 'k',
    use: { does: 'quote', supplierId: 'sup_881', sku: 'UNKNOWN-1', quantity: '1' },
    article: { ...chair, sku: 'UNKNOWN-1' },
  } as const;
  await failsAs(useTool(tools, input, quote, call), 'busy', 'unavailable');
  const told = await useTool(tools, input, quote, call);
  assert.ok(!told.ok && /UNKNOWN-1/.test(told.error));
});

test('a supplier’s words are cut to what a result may have, and cannot become part of an id', async (t) => {
  const all = await world(t);
  const supplier = {
    quote: async () => ({ unitPrice: 'free!' }),
    search: async () => [
      {
        ...chair,
        supplierName: 'S',
        description: '<'.repeat(50_000),
        name: 'n\u202e\n'.repeat(400),
      },
      { ...chair, supplierName: 'S', description: '', sku: 'two\nlines' },
    ],
  };
  const tools = { ...all.partners, supplier, store: all.store };
  const input = inputOf();
  const use = { does: 'search', query: 'x' } as const;
  const found = await useTool(tools, input, { callId: 'a', effectKey: 'k', use }, call);
  assert.ok(found.ok && found.learnt.articles?.length === 1);
  const shown = new TextDecoder().decode(await all.store.get(found.ref));
  assert.ok(shown.length <= input.limits.maxResultChars && found.size >= shown.length);
  const quote = { does: 'quote', supplierId: 's', sku: 'x', quantity: '1' } as const;
  const asked = { callId: 'q', effectKey: 'k', use: quote, article: chair };
  const quoted = await useTool(tools, input, asked, call);
  assert.ok(!quoted.ok && /no usable price/.test(quoted.error));
  const forgotten = await useTool(tools, input, { callId: 'q', effectKey: 'k', use: quote }, call);
  assert.ok(!forgotten.ok && /again/.test(forgotten.error));
});

test('a crash between the answer and its checkpoint leaves an orphan and a call that was paid for', async (t) => {
  const all = await world(t);
  const input = inputOf();
  const lost = await think(all, input, turnOf(input), call);
  const again = await think(all, input, turnOf(input), call);
  // The script answers the same, so even the orphan is the same entry.
  assert.equal(again.entry.ref, lost.entry.ref);
  assert.equal((await all.control.counts('acme/REQ-1')).completion, 2);
});

const approving: People = ({ question: { gateVersion } }) => {
  return { kind: 'person-decided', gateVersion, by: 'Bo', decision: 'approve' };
};
