import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Connection } from '@temporalio/client';
import { readEntries, refsOf } from '../../core/agent/transcript.ts';
import { agentRunIdOf, requestIdOf } from '../../core/agent/identity.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { bundleStage } from '../../replay/gate/bundle.ts';
import { registerSearchAttributes } from '../../stack/search-attributes.ts';
import { startTemporalServer } from '../../stack/temporal.ts';
import type { TemporalServer } from '../../stack/temporal.ts';
import { anAsk, openAgentBench, REQUEST } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';
import { biggestPayload, SMALL_BYTES } from '../support/payloads.ts';
import { until } from '../support/until.ts';

/** So many events of a history, some two turns, are enough for this server. */
const SUGGESTED_AT = '40';
const MANY = `${REQUEST} [model: ponder 6]`;
const small = { limits: { maxPromptBytes: 6_000 } };

let server: TemporalServer;
let bench: AgentBench;
let dataDir: string;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'q2t-chain-'));
  const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': SUGGESTED_AT };
  server = await startTemporalServer({ dataDir, dynamicConfig });
  const connection = await Connection.connect({ address: server.address });
  await registerSearchAttributes(connection, server.namespace);
  await connection.close();
  bench = await openAgentBench({ address: server.address, worker: false });
});
after(async () => {
  await bench.close();
  await server.process.stop();
  await rm(dataDir, { recursive: true });
});

/** How often the run has gone on in a new execution, and the histories' lengths. */
async function executionsOf(id: OrderId) {
  const query = `WorkflowId = '${agentRunIdOf(id)}'`;
  const lengths: number[] = [];
  for await (const { historyLength } of bench.client.workflow.list({ query })) {
    lengths.push(historyLength);
  }
  return lengths;
}

async function isContinued(id: OrderId): Promise<boolean> {
  const { raw } = await bench.client.workflow.getHandle(agentRunIdOf(id)).describe();
  const { firstRunId, execution } = raw.workflowExecutionInfo ?? {};
  return firstRunId !== execution?.runId;
}

test('a run that was begun before its version’s successor keeps it through every execution of its chain', async () => {
  const stop = await bench.startWorker({ bundle: await bundleStage('before') });
  const ask = anAsk(MANY, small);
  const id = requestIdOf(ask.request);
  await bench.agent.ask(ask);
  await bench.until(id, ({ turn }) => turn >= 1);
  await stop();
  assert.equal(await isContinued(id), false);
  await bench.startWorker();
  const { outcome, position } = await bench.result(id);
  assert.equal(outcome, 'completed');
  assert.ok((await executionsOf(id)).length > 1);
  assert.equal(position.version, '1');
});

test('a long run goes on in new executions, and nothing is lost on the way', async () => {
  const ask = anAsk(`${MANY}, ask me first`, small);
  const id = requestIdOf(ask.request);
  await bench.agent.ask(ask);
  await until('another execution', () => isContinued(id));
  // An answer that is too early, and may meet the run between two executions.
  const early = await bench.agent.answer(id, {
    gate: 'question',
    gateVersion: 1,
    by: 'Ann',
    text: 'blue',
  });
  assert.ok(early.kind === 'conflict' && early.conflict === 'early', JSON.stringify(early));
  await bench.until(id, ({ status }) => status === 'waiting');
  assert.deepEqual(await bench.agent.ask(ask), { kind: 'already-running', id });
  const listed = await bench.agent.list({ requestRef: id.orderRef });
  assert.equal(listed.kind === 'runs' && listed.runs.length, 1);
  const yes = { gate: 'question', gateVersion: 1, by: 'Ann', text: 'blue' };
  assert.deepEqual(await bench.agent.answer(id, yes), { kind: 'accepted' });
  const { outcome, position } = await bench.result(id);
  assert.equal(outcome, 'completed');
  const { completion } = await bench.partners.counts(businessKey(id));
  assert.equal(position.spent.calls, completion);
  assert.equal(position.spent.lostCalls, 0);
  assert.equal(position.version, '2');
  const kinds = position.history.map(({ type }) => type);
  assert.equal(kinds.filter((type) => type === 'thought').length, completion);
  assert.equal(kinds.filter((type) => type === 'started').length, 1);
  assert.ok(kinds.includes('decision-conflict') && kinds.includes('decided'));
  const lengths = await executionsOf(id);
  assert.ok(lengths.length > 2 && lengths.every((length) => length < 150), String(lengths));
  assert.equal((await bench.agent.ask(ask)).kind, 'already-finished');
});

test('a cancel stops a run in whichever execution it is', async () => {
  const ask = anAsk(`${REQUEST} [model: endless]`, small);
  const id = requestIdOf(ask.request);
  await bench.agent.ask(ask);
  await until('another execution', () => isContinued(id));
  await bench.agent.cancel(id, 'Ann', 'enough');
  const { outcome, position } = await bench.result(id);
  assert.equal(outcome, 'cancelled');
  const { completion } = await bench.partners.counts(businessKey(id));
  assert.equal(position.spent.calls, completion);
});

const LONG = { maxTurns: 250, maxTokens: 100_000_000, maxNanoEur: 100_000_000_000 };
/** Where the server begins to warn, and at five times as much ends a run. */
const WARNS_AT = { events: 10_240, bytes: 10_000_000 };

for (const often of ['as often as it is suggested', 'as often as the server’s defaults say']) {
  test(`B15: 200 turns keep every history short, and lose none, going on ${often}`, async () => {
    const usual = often.includes('defaults') ? await openAgentBench() : undefined;
    const own = usual ?? bench;
    const { agent, partners, client, store } = own;
    try {
      const ask = anAsk('4 data sheet chairs under 200 euro each [model: ponder 200]', {
        limits: LONG,
      });
      const id = requestIdOf(ask.request);
      await agent.ask(ask);
      const { outcome, position } = await own.result(id);
      assert.equal(outcome, 'completed', position.reason);
      assert.ok(position.turn > 200);
      const { completion } = await partners.counts(businessKey(id));
      assert.deepEqual([position.spent.calls, position.spent.lostCalls], [completion, 0]);
      assert.equal(position.turn, completion);
      const place = await agent.transcript(id);
      assert.ok(place.kind === 'position');
      const turns = (await readEntries(store, place.position.head)).map(({ turn }) => turn);
      assert.deepEqual(
        turns,
        Array.from({ length: position.turn }, (_, n) => n + 1),
      );
      const query = `WorkflowId = '${agentRunIdOf(id)}'`;
      for await (const { historyLength, historySize } of client.workflow.list({ query })) {
        assert.ok(historyLength < WARNS_AT.events, `${historyLength} events`);
        assert.ok((historySize ?? 0) < WARNS_AT.bytes, `${historySize} bytes`);
      }
      assert.ok((await biggestPayload(client, agentRunIdOf(id))) < SMALL_BYTES);
    } finally {
      await usual?.close();
    }
  });
}

test('what the runs need in the store is all there is in it', async () => {
  const needed = new Set<string>();
  for await (const place of bench.agent.places()) {
    for await (const ref of refsOf(bench.store, place)) needed.add(ref);
  }
  const stored: string[] = [];
  for await (const { ref } of bench.store.storedBefore(new Date(Date.now() + 60_000))) {
    stored.push(ref);
  }
  // A cancel has let a result or two go unused.
  const unused = stored.filter((ref) => !needed.has(ref));
  assert.ok(stored.length > 10 && unused.length <= 1, `${unused.length} of ${stored.length}`);
});
