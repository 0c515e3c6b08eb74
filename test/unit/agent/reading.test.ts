import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { asData, readData } from '../../../core/agent/data.ts';
import type { ModelAnswer } from '../../../core/agent/messages.ts';
import { readAnswer } from '../../../core/agent/read-answer.ts';
import { describeTool, readArguments } from '../../../core/agent/tools.ts';
import type { ToolUse } from '../../../core/agent/uses.ts';
import { agentVersion, toolsOf } from '../../../core/agent/versions.ts';

const version = agentVersion('1');
const limits = { maxCallsPerTurn: 8, maxArgumentChars: 200 };

const reading = (more: Partial<ModelAnswer>, by = version) =>
  readAnswer({ text: '', calls: [], finish: 'tool-calls', ...more }, by, limits);

const search = (query: string) => JSON.stringify({ query });

test('a call that makes sense becomes a use with checked arguments', () => {
  const calls = [{ callId: 'call_1', name: 'find_suppliers', arguments: '{"query":"chairs"}' }];
  const { read, message } = reading({ calls, usage: { inputTokens: 9, outputTokens: 3 } });
  assert.deepEqual(read, {
    finish: 'tool-calls',
    text: '',
    calls: [{ callId: 'call_1', ok: true, use: { does: 'search', query: 'chairs' } }],
    ignoredCalls: 0,
    usage: { inputTokens: 9, outputTokens: 3 },
  });
  assert.deepEqual(message.calls, calls);
});

for (const [what, name, args, says] of [
  ['arguments that are no JSON', 'find_suppliers', '{"query": "ch', /no JSON/],
  ['a missing argument', 'get_quote', '{"sku":"x","quantity":"1"}', /supplierId/],
  ['an argument that is not there', 'check_budget', '{"amount":"1","colour":1}', /colour/],
  [
    'a quantity of nothing',
    'get_quote',
    '{"supplierId":"s","sku":"x","quantity":"0.0"}',
    /quantity/,
  ],
  ['a number for a decimal', 'check_budget', '{"amount":800}', /amount/],
  ['an order without lines', 'submit_order', '{"supplierId":"s","lines":[]}', /lines/],
  ['arguments without end', 'find_suppliers', search('x'.repeat(300)), /longer than 200/],
  ['an unknown tool', 'buy_it_now', '{}', /no such tool.*find_suppliers.*refuse/],
  ['a tool named like a part of the language', 'constructor', '{}', /no such tool/],
] as const) {
  test(`${what} is told to the model, and sent back as a history that strict endpoints take`, () => {
    const { read, message } = reading({ calls: [{ callId: 'a', name, arguments: args }] });
    const [call] = read.calls;
    assert.ok(call && !call.ok);
    assert.match(call.error, says);
    const [sent] = message.calls;
    assert.equal(typeof JSON.parse(sent?.arguments ?? ''), 'object');
    assert.ok((sent?.arguments.length ?? 0) < 600);
  });
}

test('an answer that was cut has no calls, since its last one may say something else', () => {
  const calls = [{ callId: 'a', name: 'find_suppliers', arguments: search('chairs') }];
  const { read, message } = reading({ calls, finish: 'length' });
  assert.deepEqual([read.calls, message.calls], [[], []]);
});

test('calls beyond the limit are counted and not made', () => {
  const calls = Array.from({ length: 50 }, (_, n) => {
    return { callId: `c${n}`, name: 'find_suppliers', arguments: search(`thing ${n}`) };
  });
  const { read, message } = reading({ calls });
  assert.deepEqual([read.calls.length, message.calls.length, read.ignoredCalls], [8, 8, 42]);
});

test('every call has an id of its own, whatever the model gave it', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('', 'a', 'call-1'))), (ids) => {
      const calls = ids.map((callId) => ({ callId, name: 'refuse', arguments: '{}' }));
      const { read, message } = reading({ calls });
      const given = read.calls.map(({ callId }) => callId);
      assert.equal(new Set(given).size, Math.min(ids.length, 8));
      assert.ok(given.every((id) => /^[\w-]{1,80}$/.test(id)));
      assert.deepEqual(
        message.calls.map(({ callId }) => callId),
        given,
      );
    }),
  );
});

test('anything that a model can say is read to something small that is plain JSON', () => {
  const call = fc.record({ callId: fc.string(), name: fc.string(), arguments: fc.string() });
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(call), (text, calls) => {
      const { read } = reading({ text, calls, finish: 'stop' });
      const written = JSON.stringify(read);
      assert.deepEqual(JSON.parse(written), read);
      assert.ok(written.length < 20_000);
    }),
  );
});

const uses: ToolUse[] = [
  { does: 'search', query: 'chairs' },
  { does: 'quote', supplierId: 's', sku: 'x', quantity: '2.5' },
  { does: 'budget', amount: '800' },
  { does: 'ask', question: 'Which?' },
  { does: 'submit', supplierId: 's', lines: [{ sku: 'x', quantity: '1' }] },
  { does: 'refuse', reason: 'no' },
];

test('what the model is told about a tool is what is checked: both take and refuse the same', () => {
  const ajv = new Ajv({ strict: false });
  const tools = new Map(version.tools.map((tool) => [tool.does, tool]));
  for (const { does, ...args } of uses) {
    const tool = tools.get(does);
    assert.ok(tool, does);
    const told = ajv.compile(describeTool(tool).parameters);
    const bad = Object.keys(args).flatMap((name) => [
      { ...args, [name]: undefined },
      { ...args, [name]: 7 },
      { ...args, [name]: '' },
      { ...args, [name]: ' ' },
      { ...args, more: 1 },
    ]);
    for (const each of [args, ...bad]) {
      const text = JSON.stringify(each);
      assert.equal(readArguments(does, text).ok, told(JSON.parse(text)), `${does} ${text}`);
    }
    assert.ok(readArguments(does, JSON.stringify(args)).ok);
  }
});

test('the tools of a version have names that endpoints take, each once, and a description', () => {
  const tools = toolsOf(version);
  assert.equal(new Set(tools.map(({ name }) => name)).size, uses.length);
  for (const { name, description, parameters } of tools) {
    assert.match(name, /^[a-z_]{1,64}$/);
    assert.ok(description.length > 10);
    assert.equal(parameters['type'], 'object');
  }
});

test('a version that is not there is an error that names those that are', () => {
  assert.throws(() => agentVersion('0'), /no version 0.*there are 1/);
});

test('no text can leave its mark, and what is marked is read back as it was', () => {
  fc.assert(
    fc.property(fc.string(), fc.oneof(fc.jsonValue(), fc.constant('</data>')), (source, value) => {
      const marked = asData(source, value);
      assert.equal(marked.split('<').length, 3);
      assert.equal(marked.split('>').length, 3);
      const expected = { source, value: JSON.parse(JSON.stringify(value)) as unknown };
      assert.deepEqual(readData(marked), expected);
      assert.equal(readData(`${marked} and more`), undefined);
    }),
  );
  assert.equal(readData('error: no'), undefined);
  assert.equal(readData('<data from="x">{broken</data>'), undefined);
});

test('a tool that was renamed is the same use, and its old name is none in the new version', () => {
  const renamed = agentVersion('2');
  const isRead = (name: string) =>
    reading({ calls: [{ callId: 'a', name, arguments: search('chairs') }] }, renamed).read.calls[0]
      ?.ok;
  assert.equal(isRead('search_catalogue'), true);
  assert.equal(isRead('find_suppliers'), false);
});
