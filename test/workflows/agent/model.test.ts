import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { requestIdOf } from '../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { anAsk, openAgentBench, REQUEST } from '../../support/agent-bench.ts';
import type { AgentBench } from '../../support/agent-bench.ts';

const OPS = { by: 'Ops', why: 'seen to' };

let bench: AgentBench;
before(async () => {
  bench = await openAgentBench();
});
after(() => bench.close());

/** Asks while the model does as it is told. */
async function asked(ask: AgentAsk, fault?: Pick<FaultSpec, 'effect' | 'times' | 'skip'>) {
  const id = requestIdOf(ask.request);
  const reference = businessKey(id);
  const whose = { partner: 'model', operation: 'complete', reference } as const;
  const faultId = fault ? await bench.partners.setFault({ ...whose, ...fault }) : '';
  await bench.agent.ask(ask);
  return { id, faultId };
}

async function endOf(id: OrderId) {
  const result = await bench.result(id);
  const { completion } = await bench.partners.counts(businessKey(id));
  return { ...result, completion };
}

describe('a model that', { concurrency: true }, () => {
  test('answers 429 is asked again when it said, and it costs nothing', async () => {
    const effect = { kind: 'status', status: 429, retryAfter: 2 } as const;
    const { id } = await asked(anAsk(), { effect, times: 1 });
    const retrying = await bench.until(id, ({ status }) => status === 'retrying');
    const wait = Date.parse(retrying.nextAttemptAt ?? '') - Date.now();
    assert.ok(wait > 500 && wait < 2_500, `${wait} ms`);
    assert.match(retrying.lastFailure ?? '', /429/);
    assert.equal(retrying.attempts, 1);
    const { outcome, position, completion } = await endOf(id);
    assert.equal(outcome, 'completed');
    assert.equal(position.spent.calls, completion);
    assert.equal(position.spent.lostCalls, 0);
    assert.equal(position.attempts, 0);
  });

  test('fails with 500 may have been paid: the calls are charged and made again', async () => {
    const { id } = await asked(anAsk(), { effect: { kind: 'status', status: 500 }, times: 5 });
    const { outcome, position } = await endOf(id);
    // More than `maxAttempts`: what is lost is bounded by the budget.
    assert.equal(outcome, 'completed');
    assert.equal(position.spent.lostCalls, 5);
    const lost = position.history.filter(({ type }) => type === 'calls-lost');
    assert.equal(lost.length, 5);
  });

  test('is too slow is lost at its deadline, and counted with the partner', async () => {
    const effect = { kind: 'hang-after' } as const;
    const { id } = await asked(anAsk(REQUEST, { limits: { modelTimeoutMs: 4_000 } }), {
      effect,
      times: 1,
    });
    const { outcome, position, completion } = await endOf(id);
    assert.equal(outcome, 'completed');
    assert.equal(position.spent.lostCalls, 1);
    assert.equal(position.spent.calls + position.spent.lostCalls, completion);
  });

  test('always fails uses up the money and no more', async () => {
    const shape = { limits: { maxNanoEur: 12_000_000 } };
    const { id } = await asked(anAsk(REQUEST, shape), { effect: { kind: 'status', status: 500 } });
    const { outcome, reason, position } = await endOf(id);
    assert.equal(outcome, 'exhausted');
    assert.match(reason, /budget of money/);
    assert.ok(position.spent.lostCalls > 1);
    assert.ok(position.spent.nanoEur <= 12_000_000);
  });

  test('refuses the key is an operator’s case, who has it tried again', async () => {
    const { id } = await asked(anAsk(), { effect: { kind: 'status', status: 401 }, times: 1 });
    await bench.until(id, ({ status }) => status === 'stuck');
    const { deadLetters } = bench.agent;
    const found = await deadLetters.list();
    assert.ok(found.kind === 'dead-letters');
    const own = found.deadLetters.find((each) => businessKey(each.id) === businessKey(id));
    assert.deepEqual([own?.step, own?.attempts.length], ['think', 1]);
    assert.deepEqual(await deadLetters.replay(id, OPS), { kind: 'accepted' });
    assert.equal((await endOf(id)).outcome, 'completed');
  });

  test('is busy for longer than its attempts makes the run stuck, and is given up', async () => {
    const { id } = await asked(anAsk(), { effect: { kind: 'status', status: 503 } });
    const stuck = await bench.until(id, ({ status }) => status === 'stuck');
    assert.equal(stuck.attempts, 4);
    assert.deepEqual(await bench.agent.deadLetters.discard(id, OPS), { kind: 'accepted' });
    const { outcome, reason, completion } = await endOf(id);
    assert.deepEqual([outcome, reason, completion], ['discarded', OPS.why, 0]);
  });
});

describe('a cancel', { concurrency: true }, () => {
  const cancel = (id: OrderId) => bench.agent.cancel(id, 'Ann', 'no need');

  test('while the model thinks waits for its answer, which is counted', async () => {
    const { id, faultId } = await asked(anAsk(), { effect: { kind: 'hang-after' }, times: 1 });
    await bench.partners.waitUntilHeld({ faultId }, 20_000);
    await cancel(id);
    await bench.until(id, ({ history }) => history.some((e) => e.type === 'cancel-requested'));
    await bench.partners.clearFault(faultId);
    const { outcome, reason, position, completion } = await endOf(id);
    assert.deepEqual([outcome, reason, completion], ['cancelled', 'no need', 1]);
    assert.equal(position.spent.calls, 1);
  });

  test('between two attempts ends the run at once', async () => {
    const effect = { kind: 'status', status: 429, retryAfter: 3_600 } as const;
    const { id } = await asked(anAsk(), { effect });
    await bench.until(id, ({ status }) => status === 'retrying');
    await cancel(id);
    assert.equal((await endOf(id)).outcome, 'cancelled');
  });
});

// Finance is asked under no reference: its fault is everybody's.
test('B31: a cancel while a tool is tried again and again does not wait for it', async () => {
  const effect = { kind: 'status', status: 503, retryAfter: 3_600 } as const;
  const ask = anAsk();
  const faultId = await bench.partners.setFault({
    partner: 'finance',
    operation: 'available',
    effect,
  });
  const { id } = await asked(ask);
  const retrying = await bench.until(id, ({ status }) => status === 'retrying');
  assert.equal(retrying.step, 'use');
  await bench.agent.cancel(id, 'Ann', 'no need');
  const { outcome } = await endOf(id);
  await bench.partners.clearFault(faultId);
  assert.equal(outcome, 'cancelled');
});
