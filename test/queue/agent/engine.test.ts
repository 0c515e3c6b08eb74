import assert from 'node:assert/strict';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { collect } from '../../../agent/store/collect.ts';
import { agentRunIdOf, orderIdOfRequest } from '../../../core/agent/identity.ts';
import type { ClaimCheckStore } from '../../../core/agent/store.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import type { Engine } from '../../../queue/runs/engine.ts';
import { LeaseLost } from '../../../queue/runs/fence.ts';
import { handleWakeUp } from '../../../queue/runs/handle-wake-up.ts';
import type { Holding } from '../../../queue/runs/hold.ts';
import { AGENTS_QUEUE, ORDERS_QUEUE } from '../../../queue/runs/inbox.ts';
import { sweep } from '../../../queue/runs/sweep.ts';
import { take } from '../../../queue/runs/take.ts';
import { walk } from '../../../queue/runs/walk.ts';
import { pruneDetails } from '../../../queue/pruning/prune-details.ts';
import { pruneLedgers } from '../../../queue/pruning/prune-ledgers.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import { until } from '../../support/until.ts';
import type { AgentBench } from '../support/agent-bench.ts';
import { HIDDEN, openAgentByHand } from '../support/agent-by-hand.ts';
import type { AgentByHand } from '../support/agent-by-hand.ts';
import { mortal } from '../support/mortal.ts';

const LIMIT = 30_000;

const policy = { settleMs: 0, maxLostWorkers: 1_000 };

describe('what holds the agent’s runs on the queue', () => {
  let hand: AgentByHand;
  let bench: AgentBench;
  let engine: Engine;
  let store: ClaimCheckStore;
  let live: AgentByHand['live'];
  let liveOnce: AgentByHand['liveOnce'];
  let lose: AgentByHand['lose'];
  before(async () => {
    hand = await openAgentByHand();
    ({ bench, engine, store, live, liveOnce, lose } = hand);
  });
  after(() => hand.close());
  afterEach(() => bench.orders.partners.clearFault());

  async function wakeUpOf(queue: string): Promise<ReceivedMessage> {
    const [message] = await engine.transport.receive(queue, HIDDEN);
    assert.ok(message, 'no wake-up came');
    return message;
  }

  async function takeRun(id: OrderId, message: ReceivedMessage): Promise<Holding> {
    const taken = await take(engine, agentRunIdOf(id), message, true);
    assert.ok(typeof taken !== 'string', `not taken: ${JSON.stringify(taken)}`);
    return taken;
  }

  test('what was stored by a worker that died before its commit is collected once nobody can name it', async () => {
    const id = await bench.asked('12 stools, as nobody else asks for', { policy });
    // The claim and the intent are the first two; the answer is in the store by the third.
    const { dead } = await liveOnce(id, { commit: 3, side: 'before' });
    assert.ok(dead);
    assert.deepEqual(await bench.agent.transcript(id), {
      kind: 'position',
      position: { notes: [] },
    });
    await bench.agent.cancel(id, 'Ann', 'enough');
    await liveOnce(id);
    assert.equal((await bench.position(id)).outcome, 'cancelled');
    const later = new Date(Date.now() + 60_000);
    assert.equal((await collect(store, bench.agent.places(), later)).taken, 1);
    assert.equal((await collect(store, bench.agent.places(), later)).taken, 0);
  });

  test('A6: a tool that kills its worker each time ends with an operator, who sees every start, and others go on', async () => {
    const poison = await bench.asked(undefined, { policy: { ...policy, maxLostWorkers: 2 } });
    // The claim, the intent and the answer; the fourth commit is what the tool has found.
    await liveOnce(poison, { commit: 4, side: 'before' });
    for (let again = 0; again < 2; again += 1) {
      await liveOnce(poison, { commit: 2, side: 'before' });
    }
    await liveOnce(poison);
    const { status, step } = await bench.position(poison);
    assert.deepEqual([status, step], ['stuck', 'use']);
    const listed = await bench.agent.deadLetters.list();
    assert.ok(listed.kind === 'dead-letters');
    const [letter] = listed.deadLetters;
    assert.deepEqual(letter?.id, poison);
    assert.match(letter.reason, /3 workers were lost/);
    const classes = letter.attempts.map(({ failureClass }) => failureClass);
    assert.deepEqual(classes, ['lost-worker', 'lost-worker', 'lost-worker']);
    // What came before the tool was paid for once.
    assert.equal(await bench.completions(poison), 1);
    const good = await bench.asked(undefined, { policy });
    await live(mortal(engine));
    assert.equal((await bench.position(good)).outcome, 'completed');
    await bench.agent.deadLetters.discard(poison, { by: 'Ann', why: 'it kills' });
    await live(mortal(engine));
  });

  test('a worker whose run another one has taken writes nothing; what it heard is kept as evidence', async () => {
    const faultId = await bench.orders.partners.setFault({
      partner: 'model',
      times: 1,
      effect: { kind: 'hang-after' },
    });
    const id = await bench.asked(undefined, { policy });
    const message = await wakeUpOf(AGENTS_QUEUE);
    const stale = await takeRun(id, message);
    const walking = walk(engine, stale);
    const lost = assert.rejects(walking, LeaseLost);
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    await lose(id);
    const successor = await takeRun(id, message);
    await bench.orders.partners.release();
    await lost;
    assert.equal((await bench.position(id)).turn, 0);
    await walk(engine, successor);
    await live(mortal(engine));
    const { outcome, spent } = await bench.position(id);
    assert.deepEqual([outcome, spent.calls, spent.lostCalls], ['completed', 4, 1]);
    assert.equal(await bench.completions(id), 5);
    const { rows } = await bench.orders.pool.query(
      'SELECT effect_key FROM queue.evidence WHERE run_id = $1',
      [agentRunIdOf(id)],
    );
    assert.deepEqual(rows, [{ effect_key: `${businessKey(id)}/t1/model` }]);
  });

  test('an answer that the ledger has is never paid for again', async () => {
    const id = await bench.asked(undefined, { policy });
    const message = await wakeUpOf(AGENTS_QUEUE);
    await walk(engine, await takeRun(id, message));
    const before = await bench.completions(id);
    // As if the position had been lost, and the ledger not.
    await bench.orders.pool.query(
      `UPDATE queue.run SET step = 'think', parked_for = NULL, state = jsonb_set(state, '{agent}', (
         SELECT jsonb_build_object('turn', 0, 'lost', 0, 'window', '[]'::jsonb, 'notes', '[]'::jsonb,
           'open', '[]'::jsonb, 'repairs', 0, 'asked', 0, 'facts',
           '{"articles":[],"quotes":[],"answers":[]}'::jsonb, 'spent',
           '{"calls":0,"lostCalls":0,"inputTokens":0,"outputTokens":0,"nanoEur":0}'::jsonb)))
       WHERE id = $1`,
      [agentRunIdOf(id)],
    );
    await engine.transport.send(engine.pool, AGENTS_QUEUE, [{ body: { runId: agentRunIdOf(id) } }]);
    await live(mortal(engine));
    assert.equal((await bench.position(id)).outcome, 'completed');
    assert.equal(await bench.completions(id), before);
  });

  test('a run whose order did not wake it is found by the sweep', async () => {
    const id = await bench.asked(undefined, { policy });
    const { pool } = bench.orders;
    await handleWakeUp(engine, AGENTS_QUEUE, await wakeUpOf(AGENTS_QUEUE));
    const { step, status, attempts } = await bench.position(id);
    assert.deepEqual([step, status, attempts], ['order', 'running', 0]);
    const orderRunId = businessKey(orderIdOfRequest(id));
    await pool.query('UPDATE queue.run SET parent_id = NULL WHERE id = $1', [orderRunId]);
    await live(mortal(engine));
    assert.equal((await bench.position(id)).status, 'running');
    await pool.query('UPDATE queue.run SET parent_id = $2 WHERE id = $1', [
      orderRunId,
      agentRunIdOf(id),
    ]);
    assert.equal((await sweep(pool, engine.transport, { quietMs: 0, batch: 10 })).parents, 1);
    await live(mortal(engine));
    assert.equal((await bench.position(id)).outcome, 'completed');
    assert.equal((await sweep(pool, engine.transport, { quietMs: 0, batch: 10 })).parents, 0);
  });

  test('a wake-up of the agent among the orders’, as older code sends it, is sent on', async () => {
    const id = await bench.asked(undefined, { policy });
    await engine.transport.purge(AGENTS_QUEUE);
    const body = { runId: agentRunIdOf(id) };
    await engine.transport.send(engine.pool, ORDERS_QUEUE, [{ body }]);
    await handleWakeUp(engine, ORDERS_QUEUE, await wakeUpOf(ORDERS_QUEUE));
    assert.equal((await bench.position(id)).turn, 0);
    await live(mortal(engine));
    assert.equal((await bench.position(id)).outcome, 'completed');
  });

  test('the house collects what nobody names, and what belonged to a run that is pruned', async () => {
    const { pool } = bench.orders;
    const id = await bench.asked(undefined, { policy });
    await live(mortal(engine));
    const kept = await bench.agent.transcript(id);
    assert.ok(kept.kind === 'position' && kept.position.head);
    const orphan = await store.put(new TextEncoder().encode('orphan'));
    const files = await readdir(bench.parts.storeDir, { recursive: true });
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const file of files.filter((each) => each.includes('sha256-'))) {
      await utimes(join(bench.parts.storeDir, file), old, old);
    }
    const worker = await bench.startWorker({ housekeepingEveryMs: 50 });
    const gone = () =>
      store.get(orphan).then(
        () => false,
        () => true,
      );
    await until('the orphan to be collected', gone);
    await worker.stop();
    assert.equal((await readEntries(store, kept.position.head)).length, 4);

    await pruneDetails(pool, { olderThanMs: 0, batch: 1_000 });
    const pruned = await bench.position(id);
    assert.deepEqual([pruned.outcome, pruned.spent.calls, pruned.turn], ['completed', 4, 4]);
    assert.equal((await bench.agent.transcript(id)).kind, 'cannot');
    await collect(store, bench.agent.places(), new Date(Date.now() + 60_000));
    await assert.rejects(store.get(kept.position.head));
    await pruneLedgers(pool, { olderThanMs: 0, batch: 1_000 });
    assert.deepEqual(await bench.agent.where(id), { kind: 'not-found' });
    assert.deepEqual(await bench.agent.transcript(id), { kind: 'not-found' });
  });
});
