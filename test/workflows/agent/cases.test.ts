import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { agentRunIdOf, orderIdOfRequest, requestIdOf } from '../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { ONCE } from '../../../lab/observe/effects.ts';
import { failureInWords, replayGate } from '../../../replay/gate/gate.ts';
import { projectRoot } from '../../../stack/runtime.mjs';
import { anAsk, openAgentBench, REQUEST } from '../../support/agent-bench.ts';
import type { AgentBench } from '../../support/agent-bench.ts';
import { happened } from '../../support/counts.ts';
import {
  biggestPayload,
  ENDLESS_ANSWER,
  ENDLESS_CATALOGUE,
  SMALL_BYTES,
} from '../../support/payloads.ts';
import { workflowBundle } from '../../support/temporal.ts';
import { until } from '../../support/until.ts';

const question = { gate: 'question', gateVersion: 1, by: 'Ann' } as const;

let bench: AgentBench;
let stopWorker: () => Promise<void>;
before(async () => {
  bench = await openAgentBench({ worker: false });
  stopWorker = await bench.startWorker();
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

const handleOf = (id: OrderId) => bench.client.workflow.getHandle(agentRunIdOf(id));

/** Turns that can be read from the store. */
async function turnsInStore(id: OrderId): Promise<number> {
  const place = await bench.agent.transcript(id);
  assert.ok(place.kind === 'position');
  return (await readEntries(bench.store, place.position.head)).length;
}

describe('a question', { concurrency: true }, () => {
  test('is answered once: what is early, second or late is none, and stays to be seen', async () => {
    const { id, position } = await waiting(anAsk(`${REQUEST}, ask me first`));
    assert.match(JSON.stringify(position.question), /Which colour/);
    const approval = { ...question, gate: 'approval', decision: 'approve' } as const;
    const early = await bench.agent.answer(id, approval);
    const yes = await bench.agent.answer(id, { ...question, text: 'blue' });
    const again = await bench.agent.answer(id, { ...question, text: 'blue' });
    const other = await bench.agent.answer(id, { ...question, by: 'Eve', text: 'red' });
    const conflicts = [early, other].map((each) => 'conflict' in each && each.conflict);
    assert.deepEqual(conflicts, ['early', 'second']);
    assert.deepEqual([yes.kind, again.kind], ['accepted', 'accepted']);
    const { outcome, position: end } = await bench.result(id);
    assert.equal(outcome, 'completed');
    const kinds = end.history.map(({ type }) => type);
    assert.equal(kinds.filter((type) => type === 'decision-conflict').length, 2);
    assert.equal(kinds.filter((type) => type === 'decided').length, 1);
    const late = await bench.agent.answer(id, { ...question, text: 'green' });
    assert.ok(late.kind === 'conflict' && late.conflict === 'ended');
  });

  test('that is answered with too little or too much goes on waiting; lists have it apart from orders', async () => {
    const ask = anAsk(`${REQUEST}, ask me first`, { buyerId: 'lister' });
    const { id } = await waiting(ask);
    for (const text of ['', 'x'.repeat(1_001)]) {
      await assert.rejects(bench.agent.answer(id, { ...question, text }), /text must be a text/);
      // Whoever goes round the client meets the run's own validator.
      const sent = handleOf(id).executeUpdate('answer', { args: [{ ...question, text }] });
      await assert.rejects(sent);
    }
    const listed = await bench.agent.list({ buyerId: 'lister', status: 'waiting', step: 'ask' });
    assert.ok(listed.kind === 'runs');
    assert.deepEqual(
      listed.runs.map((run) => run.id),
      [id],
    );
    const orders = await bench.orders.list({ buyerId: 'lister' });
    assert.deepEqual(orders, { kind: 'runs', runs: [] });
    await bench.agent.cancel(id, 'Ann', 'no need');
    const { outcome, position } = await bench.result(id);
    assert.equal(outcome, 'cancelled');
    assert.ok(!position.history.some(({ type }) => type === 'decision-conflict'));
  });
});

test('B13: a tool that fails after many heartbeats is used again from its beginning; nothing goes by their details', async () => {
  const policy = { heartbeatMs: 1_000, partnerTimeoutMs: 5_000 };
  const effect = { kind: 'hang-after' } as const;
  const faultId = await bench.partners.setFault({ operation: 'search', times: 1, effect });
  const ask = anAsk(REQUEST, { policy });
  const id = await asked(ask);
  const pending = async () => (await handleOf(id).describe()).raw.pendingActivities?.[0];
  const beats = new Set<string>();
  await until('some heartbeats', async () => {
    const activity = await pending();
    const details = activity?.heartbeatDetails?.payloads ?? [];
    assert.equal(
      details.reduce((sum, { data }) => sum + (data?.length ?? 0), 0),
      0,
    );
    if (activity?.lastHeartbeatTime) beats.add(JSON.stringify(activity.lastHeartbeatTime));
    return beats.size > 2;
  });
  const { outcome, position } = await bench.result(id);
  assert.equal(outcome, 'completed');
  const struck = (await bench.partners.faults()).find((each) => each.faultId === faultId);
  await bench.partners.clearFault(faultId);
  assert.ok(struck && struck.struck === 1 && struck.seen > 1, JSON.stringify(struck));
  const { completion } = await bench.partners.counts(businessKey(id));
  const { calls, lostCalls } = position.spent;
  assert.ok(completion >= calls && completion <= calls + lostCalls, `${completion} paid`);
  const order = await bench.partners.counts(businessKey(orderIdOfRequest(id)));
  assert.deepEqual(happened(order), ONCE);
  for await (const file of glob('{activities,agent,workflows}/**/*.ts', { cwd: projectRoot })) {
    const code = await readFile(`${projectRoot}/${file}`, 'utf8');
    assert.doesNotMatch(code, /heartbeatDetails|heartbeat\([^)]/, file);
  }
});

test('B14, B15: megabytes of answers and of data sheets are in the store, and in no history', async () => {
  const words = '4 data sheet chairs under 200 euro each [model: ponder 20]';
  const ask = anAsk(words, { limits: { maxTurns: 40 } });
  const reference = businessKey(requestIdOf(ask.request));
  const body = { status: 200, kind: 'status' } as const;
  const effects = [
    { partner: 'model', reference, times: 1, effect: { ...body, body: ENDLESS_ANSWER } },
    { operation: 'search', times: 1, effect: { ...body, body: ENDLESS_CATALOGUE } },
  ] as const;
  for (const fault of effects) await bench.partners.setFault(fault);
  const id = await asked(ask);
  const { outcome, position } = await bench.result(id);
  await bench.partners.clearFault();
  assert.equal(outcome, 'completed', position.reason);
  assert.ok(position.turn > 20 && (await turnsInStore(id)) === position.turn);
  const biggest = await biggestPayload(bench.client, agentRunIdOf(id));
  assert.ok(biggest > 1_000 && biggest < SMALL_BYTES, `${biggest} bytes`);
  const { historyLength } = await handleOf(id).describe();
  assert.ok(historyLength < 1_000, `${historyLength} events`);
});

test('B27: a history replays on a worker that is new, and on one that remembers nothing between tasks', async () => {
  await stopWorker();
  await bench.startWorker({ maxCachedWorkflows: 0 });
  const { id } = await waiting(anAsk(`${REQUEST}, ask me first`));
  const yes = { ...question, text: 'blue' };
  assert.deepEqual(await bench.agent.answer(id, yes), { kind: 'accepted' });
  assert.equal((await bench.result(id)).outcome, 'completed');
  const workflowId = agentRunIdOf(id);
  const history = await handleOf(id).fetchHistory();
  const known = { name: id.orderRef, workflowId, history };
  const { failures } = await replayGate(await workflowBundle(), [known], { cut: false });
  assert.deepEqual(failures.map(failureInWords), []);
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
