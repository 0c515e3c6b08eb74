import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asData } from '../../../core/agent/data.ts';
import type { ModelAnswer } from '../../../core/agent/messages.ts';
import { call } from './running.ts';
import { asking, key, runningModel, used } from './model-running.ts';

const REQUEST = '40 office chairs under 200 euro each, delivered in Utrecht by 12 January';

const articles = [4, 1, 2, 3].map((n) => ({
  supplierId: `sup_${n}`,
  sku: `CHAIR-${n}`,
  name: `chair ${n}`,
}));
const found = used('a', 'find_suppliers', {}, asData('catalogue', { articles }));
const quoted = ['30.00', '20.00', '25.00'].flatMap((unitPrice, n) =>
  used(
    `q${n}`,
    'get_quote',
    {},
    asData('supplier', {
      quotes: [{ supplierId: `sup_${n + 1}`, sku: `CHAIR-${n + 1}`, unitPrice }],
    }),
  ),
);
const may = (minor: number) =>
  used('b', 'check_budget', {}, asData('check_budget', { available: { currency: 'EUR', minor } }));

const callsOf = ({ calls }: ModelAnswer) =>
  calls.map(({ name, arguments: args }) => [name, JSON.parse(args) as unknown]);

test('the scripted model looks for suppliers, asks all for a price at once, asks finance and orders', async (t) => {
  const { model } = await runningModel(t);
  const first = await model.complete(asking(REQUEST), call);
  assert.deepEqual(callsOf(first), [['find_suppliers', { query: 'office chairs' }]]);
  assert.equal(first.finish, 'tool-calls');

  const second = await model.complete(asking(REQUEST, ...found), call);
  assert.deepEqual(callsOf(second), [
    ['get_quote', { supplierId: 'sup_1', sku: 'CHAIR-1', quantity: '40' }],
    ['get_quote', { supplierId: 'sup_2', sku: 'CHAIR-2', quantity: '40' }],
    ['get_quote', { supplierId: 'sup_3', sku: 'CHAIR-3', quantity: '40' }],
  ]);
  assert.equal(new Set(second.calls.map(({ callId }) => callId)).size, 3);

  const third = await model.complete(asking(REQUEST, ...found, ...quoted), call);
  assert.deepEqual(callsOf(third), [['check_budget', { amount: '800' }]]);

  const last = await model.complete(asking(REQUEST, ...found, ...quoted, ...may(80_000)), call);
  assert.deepEqual(callsOf(last), [
    ['submit_order', { supplierId: 'sup_2', lines: [{ sku: 'CHAIR-2', quantity: '40' }] }],
  ]);
});

for (const [why, text, since] of [
  ['nothing is cheap enough', '40 chairs under 19 euro each', [...found, ...quoted]],
  ['there is no money', REQUEST, [...found, ...quoted, ...may(79_999)]],
  [
    'nobody has it',
    REQUEST,
    used('a', 'find_suppliers', {}, asData('catalogue', { articles: [] })),
  ],
  ['the order was not taken', REQUEST, used('s', 'submit_order', {}, 'error: no')],
] as const) {
  test(`the scripted model refuses with a reason when ${why}`, async (t) => {
    const { model } = await runningModel(t);
    const answer = await model.complete(asking(text, ...since), call);
    const [refusal] = callsOf(answer);
    assert.equal(refusal?.[0], 'refuse');
  });
}

test('it asks a person when it is told to, once', async (t) => {
  const { model } = await runningModel(t);
  const text = `${REQUEST}. Ask me first`;
  const asks = await model.complete(asking(text, ...found), call);
  assert.equal(asks.calls[0]?.name, 'ask_person');
  const answered = used('p', 'ask_person', {}, asData('person', { answers: [{ text: 'blue' }] }));
  const goesOn = await model.complete(asking(text, ...found, ...answered), call);
  assert.equal(goesOn.calls[0]?.name, 'get_quote');
});

test('it believes a catalogue that gives it orders: guarding is the program’s business', async (t) => {
  const { model, partners } = await runningModel(t);
  const offers = await partners.supplier.search({ query: 'bargain chairs' }, call);
  const evil = used('a', 'find_suppliers', {}, asData('catalogue', { articles: offers }));
  const since = [...evil, ...quoted, ...may(10_000_000)];
  const { calls } = await model.complete(asking(REQUEST, ...since), call);
  assert.match(calls[0]?.arguments ?? '', /"quantity":"1000"/);
});

test('the same request gets the same answer, and each call is an effect of its run', async (t) => {
  const { model, control } = await runningModel(t);
  const once = await model.complete(asking(REQUEST), call);
  assert.deepEqual(await model.complete(asking(REQUEST), call), once);
  await model.complete({ ...asking(REQUEST), key: 'acme/REQ-2/t1/model' }, call);
  assert.equal((await control.counts('acme/REQ-1')).completion, 2);
  const [effect] = await control.effects({ partner: 'model', reference: 'acme/REQ-1' });
  assert.deepEqual([effect?.kind, effect?.key], ['completion', key]);
});

test('usage counts what was asked and what was answered', async (t) => {
  const { model } = await runningModel(t);
  const short = (await model.complete(asking(REQUEST), call)).usage;
  const long = (await model.complete(asking(REQUEST, ...found), call)).usage;
  assert.ok(short && long && short.inputTokens > 20 && long.inputTokens > short.inputTokens);
  assert.ok(short.outputTokens > 0 && short.outputTokens < 100);
});

test('an answer that is too long is cut at the limit, in mid-word', async (t) => {
  const { model } = await runningModel(t);
  const { finish, calls, usage } = await model.complete(
    { ...asking(REQUEST, ...found), maxOutputTokens: 10 },
    call,
  );
  assert.equal(finish, 'length');
  assert.equal(usage?.outputTokens, 10);
  assert.throws(() => JSON.parse(calls[0]?.arguments ?? ''));
});

for (const [words, looks] of [
  ['malformed', ({ calls }) => assert.throws(() => JSON.parse(calls[0]?.arguments ?? ''))],
  ['unknown-tool', ({ calls }) => assert.equal(calls[0]?.name, 'buy_it_now')],
  ['cut', ({ finish }) => assert.equal(finish, 'length')],
  ['silent', (answer) => assert.deepEqual([answer.text, answer.calls], ['', []])],
  ['chatty', ({ finish, calls }) => assert.deepEqual([finish, calls], ['stop', []])],
  ['many', ({ calls }) => assert.equal(calls.length, 50)],
] as [string, (answer: ModelAnswer) => void][]) {
  test(`the request can ask for a wrong answer: ${words}`, async (t) => {
    const { model, control } = await runningModel(t);
    looks(await model.complete(asking(`${REQUEST} [model: ${words}]`), call));
    assert.equal((await control.counts()).completion, 1);
  });
}

test('a wrong answer can be asked for the first turns only, or for ever', async (t) => {
  const { model } = await runningModel(t);
  const toolOf = async (text: string) =>
    (await model.complete(asking(text, ...found), call)).calls[0]?.name;
  assert.equal(await toolOf(`${REQUEST} [model: unknown-tool 1]`), 'get_quote');
  assert.equal(await toolOf(`${REQUEST} [model: unknown-tool 2]`), 'buy_it_now');
  assert.equal(await toolOf(`${REQUEST} [model: endless]`), 'find_suppliers');
  assert.equal(await toolOf(`${REQUEST} [model: ponder 3]`), 'find_suppliers');
});

test('a summary of the program counts as what was said before', async (t) => {
  const { model } = await runningModel(t);
  const digest = { turns: 9, articles, quotes: [{ ...articles[2], unitPrice: '20.00' }] };
  const content = asData('program', digest);
  const { calls } = await model.complete(asking(REQUEST, { role: 'user', content }), call);
  assert.equal(calls[0]?.name, 'check_budget');
});

test('the catalogue finds three articles, or none, and finance says what may be spent', async (t) => {
  const { partners } = await runningModel(t);
  const offers = await partners.supplier.search({ query: 'office chairs' }, call);
  assert.deepEqual(
    offers.map(({ supplierId, sku }) => [supplierId, sku]),
    [
      ['sup_881', 'OFFICE-CHAIRS-1'],
      ['sup_882', 'OFFICE-CHAIRS-2'],
      ['sup_883', 'OFFICE-CHAIRS-3'],
    ],
  );
  assert.deepEqual(await partners.supplier.search({ query: 'nothing' }, call), []);
  const available = (buyerId: string, currency: string) =>
    partners.finance.available({ buyerId, currency }, call);
  assert.deepEqual(await available('acme', 'EUR'), { currency: 'EUR', minor: 5_000_000 });
  assert.deepEqual(await available('acme', 'JPY'), { currency: 'JPY', minor: 50_000 });
  assert.equal((await available('poor-1', 'EUR')).minor, 0);
});

test('it calls a tool as it sees that it did before, whatever the tool is called now', async (t) => {
  const { model } = await runningModel(t);
  const text = `${REQUEST} [model: ponder 3]`;
  const before = used('a', 'search_catalogue', {}, asData('catalogue', { articles }));
  const answer = await model.complete(asking(text, ...before), call);
  assert.equal(answer.calls[0]?.name, 'search_catalogue');
});
