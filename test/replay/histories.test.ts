import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { suite, test } from 'node:test';
import { filesOf, readHistory } from '../../replay/history/file.ts';
import type { Json } from '../../replay/history/json.ts';
import { normalise } from '../../replay/history/normalise.ts';
import { withRawPayloads, withReadablePayloads } from '../../replay/history/payloads.ts';
import { agentPathsOf, filesOfPath } from '../../replay/record/agent-paths.ts';
import { pathsOf } from '../../replay/record/paths.ts';
import { CURRENT_STAGE, STAGES, STAGES_IN_FLIGHT } from '../../replay/stages.ts';

suite('the recorded histories', () => {
  for (const stage of STAGES) {
    test(`of stage ${stage} have every path, and no other`, async () => {
      const recorded = (await filesOf(stage)).map((file) => basename(file, '.json'));
      const expected = pathsOf(stage).flatMap(({ name, children = [] }) => [
        name,
        ...children.map((child) => `${name}${child.replaceAll('/', '-')}`),
      ]);
      const agents = agentPathsOf(stage).flatMap(filesOfPath);
      assert.deepEqual(recorded.sort(), [...expected, ...agents].sort());
    });
  }

  test('are of stages that exist, the current one among those in flight', () => {
    assert.ok(STAGES_IN_FLIGHT.includes(CURRENT_STAGE));
    assert.ok(STAGES_IN_FLIGHT.every((stage) => STAGES.includes(stage)));
  });

  for (const stage of STAGES) {
    test(`of stage ${stage} hold no secret and no name of a machine`, async () => {
      for (const file of await filesOf(stage)) {
        const text = await readFile(file, 'utf8');
        const suspicious = [
          /password|secret|api.?key|bearer/i,
          /-----BEGIN/,
          /https?:\/\/|postgres(ql)?:/,
          /\b\d{1,3}(\.\d{1,3}){3}\b/,
          /localhost/,
          // Worker identities, and paths of a stack trace.
          /\d+@/,
          /"(identity|binaryChecksum)":"[^"]/,
          /"stackTrace":"[^"]/,
          /\/(home|root|tmp|Users|work)\//,
        ];
        for (const pattern of suspicious) {
          assert.doesNotMatch(text, pattern, `${basename(file)} has ${pattern.source}`);
        }
      }
    });

    test(`of stage ${stage} say with which SDK and server they were recorded, one event a line`, async () => {
      for (const file of await filesOf(stage)) {
        const text = await readFile(file, 'utf8');
        const { sdk, server, stage: said, events } = JSON.parse(text) as Record<string, unknown>;
        assert.match(String(sdk), /^\d+\.\d+\.\d+/);
        assert.match(String(server), /^\d+\.\d+\.\d+/);
        assert.equal(said, stage);
        assert.ok(Array.isArray(events));
        const lines = text.split('\n').filter((line) => line.startsWith('    {"eventId":'));
        assert.equal(lines.length, events.length);
      }
    });
  }

  test('a file that is no history is refused by its name', async () => {
    const file = new URL('../../package.json', import.meta.url).pathname;
    await assert.rejects(readHistory(file), /package\.json is no workflow history: .*events/s);
  });
});

suite('a recording', () => {
  const payload = (value: unknown, metadata: Record<string, string> = {}) => ({
    metadata: { encoding: encoded('json/plain'), ...metadata },
    data: encoded(JSON.stringify(value)),
  });

  test('shows payloads as they are, and turns them back into what they were', () => {
    const raw: Json = [
      { input: { payloads: [payload({ a: [1, null, 'é'] }), payload(null)] } },
      { fields: { OrderStep: payload('price', { type: encoded('Keyword') }) } },
      { binary: { metadata: { encoding: encoded('binary/encrypted') }, data: 'AAEC' } },
    ];
    const readable = withReadablePayloads(raw);
    assert.deepEqual(readable, [
      { input: { payloads: [{ $json: { a: [1, null, 'é'] } }, { $json: null }] } },
      { fields: { OrderStep: { $json: 'price', type: 'Keyword' } } },
      { binary: { metadata: { encoding: encoded('binary/encrypted') }, data: 'AAEC' } },
    ]);
    assert.deepEqual(withRawPayloads(readable), raw);
  });

  test('of another hour, another process and another worker comes out the same', () => {
    assert.deepEqual(
      normalise(events('2026-11-29T20:46:01.700Z', '4711@build-7', 'temporal-aa'), 'temporal-aa'),
      normalise(events('2027-02-03T01:02:03.456Z', '12@laptop', 'temporal-bb'), 'temporal-bb'),
    );
  });

  test('keeps waits of days and the difference between runs', () => {
    const first = normalise(events('2026-11-29T20:46:01.700Z', '1@a', 'q'), 'q');
    const text = JSON.stringify(first);
    assert.match(text, /2026-01-05T09:00:00.000Z.*2026-01-07T09:00:00.000Z/);
    assert.match(text, /000000000001.*000000000002.*000000000001/);
    assert.match(text, /"startToFireTimeout":"172800s"/);
  });
});

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

function events(startedAt: string, identity: string, taskQueue: string): Json[] {
  const later = new Date(Date.parse(startedAt) + 2 * 86_400_000 + 300).toISOString();
  const [a, b] = [crypto.randomUUID(), crypto.randomUUID()];
  return [
    {
      eventTime: startedAt,
      identity,
      requestId: crypto.randomUUID(),
      ids: [a, b, a],
      taskQueue: { name: taskQueue },
      sticky: { name: `${identity}-${'0f'.repeat(16)}` },
      indexedFields: Math.random() < 0.5 ? { x: 1, y: 2 } : { y: 2, x: 1 },
      startToFireTimeout: '172799.991s',
      failure: { stackTrace: `at ${identity}` },
    },
    { eventTime: later, payload: { $json: { identity: 'kept', at: later } } },
  ];
}
