import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { requestIdOf } from '../../../core/agent/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { pipelinesFor } from '../../../queue/steps/pipelines.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { CHAIRS, anAsk, openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

describe('versions of the agent on the queue', () => {
  let bench: AgentBench;
  before(async () => {
    bench = await openAgentBench({ workers: 0 });
  });
  after(() => bench.close());

  test('a worker that has only the orders’ versions leaves its runs alone, and they show as stuck', async () => {
    const old = await bench.startWorker({ pipelines: pipelinesFor(['1', '2']) });
    const id = await bench.asked(`${CHAIRS}, ask me first`);
    const { status, stalled } = await bench.until(id, (position) => position.status === 'stuck');
    assert.equal(status, 'stuck');
    assert.match(stalled?.reason ?? '', /no worker that runs has version agent\/2/);
    const listed = await bench.agent.list({ status: 'stuck' });
    assert.ok(listed.kind === 'runs');
    assert.deepEqual(
      listed.runs.map((run) => [run.id, run.waitingFor]),
      [[id, 'other code']],
    );
    const order = anOrder();
    await bench.orders.pipeline.submit(order, quickPolicy);
    assert.equal((await bench.orders.ended(orderIdOf(order))).outcome, 'completed');
    assert.equal(await bench.completions(id), 0);

    const fresh = await bench.startWorker();
    await bench.until(id, (position) => position.status === 'waiting');
    await fresh.stop();
    // Who waits for a person is not stuck, whoever is there.
    assert.equal((await bench.position(id)).status, 'waiting');
    await bench.startWorker();
    await bench.agent.answer(id, { gate: 'question', gateVersion: 1, by: 'Ann', text: 'blue' });
    assert.equal((await bench.ended(id)).outcome, 'completed');
    await old.stop();
  });

  test('the agent has a rollout of its own, and a run keeps the version it began with', async () => {
    const { versions } = bench.orders.pipeline;
    const recent = await bench.asked(`${CHAIRS}, ask me first`);
    const changed = await versions.setCurrent('agent/1', 'Ann');
    assert.deepEqual(changed, { kind: 'changed', current: 'agent/1' });
    const old = await bench.asked();
    await versions.ramp('agent/2', 100, 'Ann');
    const ramped = await bench.asked();
    const onVersions = await Promise.all([recent, old, ramped].map((id) => bench.position(id)));
    assert.deepEqual(
      onVersions.map(({ version }) => version),
      ['2', '1', '2'],
    );
    for (const id of [old, ramped]) assert.equal((await bench.ended(id)).outcome, 'completed');

    const listed = await versions.list();
    assert.ok(listed.kind === 'versions');
    assert.deepEqual(
      listed.versions.map(({ version, state }) => [version, state]),
      [
        ['2', 'current'],
        ['1', 'drained'],
        ['agent/2', 'ramping'],
        ['agent/1', 'current'],
      ],
    );
    const order = anOrder();
    await bench.orders.pipeline.submit(order, quickPolicy);
    assert.equal((await bench.orders.position(orderIdOf(order))).version, '2');
    assert.equal((await versions.move(orderIdOf(order), 'agent/1', 'Ann')).kind, 'conflict');
    await versions.setCurrent('agent/2', 'Ann');
  });

  test('who does not know the version that runs begin in is told so', async () => {
    const asked = anAsk();
    const promptSizes = { 1: asked.promptSizes['1'] ?? 0 };
    await assert.rejects(bench.agent.ask({ ...asked, promptSizes }), RangeError);
    assert.deepEqual(await bench.agent.where(requestIdOf(asked.request)), { kind: 'not-found' });
  });
});
