import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { openFileStore } from '../../../agent/store/files.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import type { OrderId } from '../../../core/identity.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import {
  biggestRow,
  ENDLESS_ANSWER,
  ENDLESS_CATALOGUE,
  SMALL_BYTES,
} from '../../support/payloads.ts';
import { eventsOf, storyOf } from '../support/bench.ts';
import { openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

describe('partners of the agent on the queue that fail', () => {
  let bench: AgentBench;
  before(async () => {
    bench = await openAgentBench();
  });
  after(() => bench.close());
  afterEach(() => bench.orders.partners.clearFault());

  const fault = (spec: FaultSpec) => bench.orders.partners.setFault(spec);
  const model = (effect: FaultSpec['effect'], times?: number) =>
    fault({ partner: 'model', ...(times !== undefined && { times }), effect });
  async function lostIn(id: OrderId): Promise<number[]> {
    const events = eventsOf(await bench.position(id));
    return events.flatMap((event) => (event.type === 'calls-lost' ? [event.lostCalls] : []));
  }

  test('a model that is busy says for how long: the run retries then, and pays nothing for it', async () => {
    await model({ kind: 'status', status: 429, retryAfter: 1 }, 1);
    const askedAt = Date.now();
    const id = await bench.asked();
    const waiting = await bench.until(id, ({ status }) => status === 'retrying');
    assert.match(waiting.lastFailure ?? '', /model answered 429/);
    assert.ok(Date.parse(waiting.nextAttemptAt ?? '') > askedAt + 900);
    assert.deepEqual([waiting.step, waiting.attempts], ['think', 1]);
    const { spent, outcome } = await bench.ended(id);
    assert.deepEqual([outcome, spent.calls, spent.lostCalls], ['completed', 4, 0]);
    assert.equal(await bench.completions(id), 4);
  });

  test('a call of which nobody knows whether it was answered is charged at its worst, at once', async () => {
    await model({ kind: 'status', status: 500 }, 2);
    const id = await bench.asked();
    const { spent, outcome } = await bench.ended(id);
    assert.deepEqual([outcome, spent.calls, spent.lostCalls], ['completed', 4, 2]);
    assert.deepEqual(await lostIn(id), [1, 2]);
    const cheap = await bench.ended(await bench.asked());
    assert.ok(spent.nanoEur > cheap.spent.nanoEur + 2 * 2_000 * 600, 'two whole answers more');
    assert.equal(await bench.completions(id), 4);
  });

  test('an answer that comes too late is lost and was paid for: both are counted', async () => {
    // Long enough that no other answer is late on a busy machine.
    await model({ kind: 'hang-after', landAfterMs: 8_000 }, 1);
    const id = await bench.asked(undefined, { limits: { modelTimeoutMs: 4_000 } });
    const { spent, outcome } = await bench.ended(id);
    assert.deepEqual([outcome, spent.calls, spent.lostCalls], ['completed', 4, 1]);
    assert.equal(await bench.completions(id), 5);
    assert.deepEqual(await lostIn(id), [1]);
  });

  test('the budget is looked at before a lost call is repeated', async () => {
    await model({ kind: 'status', status: 500 });
    const id = await bench.asked(undefined, { limits: { maxNanoEur: 4_000_000 } });
    const { outcome, reason, spent } = await bench.ended(id);
    assert.equal(outcome, 'exhausted');
    assert.match(reason ?? '', /one more call could pass the budget of money/);
    assert.ok(spent.lostCalls > 0 && spent.lostCalls < 4 && spent.nanoEur <= 4_000_000);
  });

  test('attempts that are used up are a case for an operator, who has them tried again', async () => {
    await model({ kind: 'status', status: 500 });
    const id = await bench.asked(undefined, { policy: { maxAttempts: 2 } });
    const stuck = await bench.until(id, ({ status }) => status === 'stuck');
    assert.deepEqual([stuck.step, stuck.spent.lostCalls], ['think', 2]);
    const listed = await bench.agent.deadLetters.list();
    assert.ok(listed.kind === 'dead-letters');
    assert.deepEqual(
      listed.deadLetters.map((each) => [each.id, each.step, each.attempts.length]),
      [[id, 'think', 2]],
    );
    const orders = await bench.orders.pipeline.deadLetters.list();
    assert.deepEqual(orders, { kind: 'dead-letters', deadLetters: [] });
    await bench.orders.partners.clearFault();
    const action = { by: 'Ann', why: 'it is back' };
    assert.deepEqual(await bench.agent.deadLetters.replay(id, action), { kind: 'accepted' });
    const { outcome, spent } = await bench.ended(id);
    assert.deepEqual([outcome, spent.calls, spent.lostCalls], ['completed', 4, 2]);
    const again = await bench.agent.deadLetters.replay(id, action);
    assert.deepEqual(again, { kind: 'conflict', reason: 'the run is not stuck' });
  });

  test('a request that the model refuses for good is stuck at once, and can be given up', async () => {
    await model({ kind: 'status', status: 400 });
    const id = await bench.asked();
    const stuck = await bench.until(id, ({ status }) => status === 'stuck');
    assert.deepEqual([stuck.attempts, stuck.spent.lostCalls, stuck.spent.calls], [1, 0, 0]);
    const action = { by: 'Ann', why: 'no model' };
    assert.deepEqual(await bench.agent.deadLetters.discard(id, action), { kind: 'accepted' });
    const { outcome, reason } = await bench.ended(id);
    assert.deepEqual([outcome, reason], ['discarded', 'no model']);
  });

  test('a tool that fails is tried again, and in the end the model is told and not an operator', async () => {
    await fault({ partner: 'finance', times: 1, effect: { kind: 'status', status: 500 } });
    const better = await bench.ended(await bench.asked());
    assert.deepEqual([better.outcome, better.spent.calls], ['completed', 4]);
    await fault({ partner: 'finance', effect: { kind: 'status', status: 503 } });
    const worse = await bench.ended(await bench.asked(undefined, { policy: { maxAttempts: 2 } }));
    assert.deepEqual([worse.outcome, worse.reason], ['refused', 'finance does not answer']);
    const used = eventsOf(worse).findLast((event) => event.type === 'used');
    assert.deepEqual(used, { type: 'used', turn: 3, tools: ['budget'], failed: 1 });
  });

  test('B14, B15: megabytes of answers and of data sheets are in the store, and in no row and no message', async () => {
    const status = { kind: 'status', status: 200 } as const;
    await model({ ...status, body: ENDLESS_ANSWER }, 1);
    const effect = { ...status, body: ENDLESS_CATALOGUE };
    await fault({ partner: 'supplier', operation: 'search', times: 1, effect });
    const words = '4 data sheet chairs under 200 euro each [model: ponder 20]';
    const id = await bench.asked(words, { limits: { maxTurns: 40 } });
    const { outcome, turn, reason } = await bench.ended(id);
    assert.equal(outcome, 'completed', reason);
    const place = await bench.agent.transcript(id);
    assert.ok(place.kind === 'position' && turn > 20);
    const store = await openFileStore(bench.parts.storeDir);
    assert.equal((await readEntries(store, place.position.head)).length, turn);
    const biggest = await biggestRow(bench.orders.pool);
    assert.ok(biggest > 1_000 && biggest < SMALL_BYTES, `${biggest} bytes`);
  });

  test('a rate of the supplier holds for tools too: what is let through is told, the rest comes next', async () => {
    const worker = await bench.startWorker({ rates: { supplier: 10, finance: 100, model: 100 } });
    const position = await bench.ended(await bench.asked());
    assert.equal(position.outcome, 'completed');
    const quotes = storyOf(position).filter((each) => each.startsWith('used quote'));
    assert.ok(quotes.length > 1, 'all of them went at once');
    assert.equal(quotes.join(' ').match(/quote/g)?.length, 3);
    await worker.stop();
  });
});
