import assert from 'node:assert/strict';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { collect } from '../../../agent/store/collect.ts';
import { openFileStore } from '../../../agent/store/files.ts';
import { agentRunIdOf, orderIdOfRequest } from '../../../core/agent/identity.ts';
import type { ClaimCheckStore } from '../../../core/agent/store.ts';
import { readEntries } from '../../../core/agent/transcript.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { connectModel } from '../../../partners/clients/model.ts';
import { MAIL_QUEUE } from '../../../queue/joins/children.ts';
import { workOnChild } from '../../../queue/joins/work-on-child.ts';
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
import { sendMail } from '../../../queue/steps/send-mail.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import { until } from '../../support/until.ts';
import { openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';
import { idleEngine } from '../support/engine.ts';
import type { IdleEngine } from '../support/engine.ts';
import { mortal } from '../support/mortal.ts';
import type { Death, MortalEngine } from '../support/mortal.ts';

const LIMIT = 30_000;
const HIDDEN = { max: 1, visibilityMs: 3_600_000, waitMs: 0 };

interface Whole {
  outcome: string;
  turns: number;
  orders: number;
}
const TOO_CHEAP = '40 office chairs under 1 euro each';
const REFUSED: Whole = { outcome: 'refused', turns: 3, orders: 0 };
const BOUGHT: Whole = { outcome: 'completed', turns: 4, orders: 1 };

const policy = { settleMs: 0, maxLostWorkers: 1_000 };

describe('what holds the agent’s runs on the queue', () => {
  let bench: AgentBench;
  let idle: IdleEngine;
  let engine: Engine;
  let store: ClaimCheckStore;
  before(async () => {
    bench = await openAgentBench({ workers: 0 });
    idle = await idleEngine(bench.orders, 'test/agent');
    store = await openFileStore(bench.parts.storeDir);
    engine = { ...idle.engine, agent: { store, model: connectModel(bench.parts.model) } };
  });
  after(async () => {
    await engine.agent?.model.close();
    await idle.close();
    await bench.close();
  });
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

  /** Lets the lease run out, as if the worker had died a while ago, and messages come back. */
  async function lose(id: OrderId): Promise<void> {
    await bench.orders.pool.query(
      `UPDATE queue.run SET lease_until = statement_timestamp() - interval '1 second'
       WHERE id = $1 AND lease_until IS NOT NULL`,
      [agentRunIdOf(id)],
    );
    await bench.orders.pool.query('UPDATE queue.message SET visible_at = statement_timestamp()');
  }

  /** Everything that can be received now, until there is nothing or the one who has the agent is dead. */
  async function live(life: MortalEngine): Promise<void> {
    const { transport } = engine;
    for (;;) {
      const [wakeUp] = await transport.receive(AGENTS_QUEUE, HIDDEN);
      const [order] = wakeUp ? [] : await transport.receive(ORDERS_QUEUE, HIDDEN);
      const [mail] = wakeUp || order ? [] : await transport.receive(MAIL_QUEUE, HIDDEN);
      if (!wakeUp && !order && !mail) return;
      try {
        if (wakeUp) await handleWakeUp(life.engine, AGENTS_QUEUE, wakeUp);
        if (order) await handleWakeUp(engine, ORDERS_QUEUE, order);
        if (mail) await workOnChild(engine, MAIL_QUEUE, sendMail, mail);
      } catch (error) {
        // What a dead process throws nobody sees.
        if (!life.dead) throw error;
      }
      if (life.dead) return;
    }
  }

  async function liveOnce(id: OrderId, death?: Death): Promise<MortalEngine> {
    await lose(id);
    const life = mortal(engine, death);
    await live(life);
    return life;
  }

  /** An answer for each turn, no call that is not in the account, and one order or none. */
  async function assertWhole(id: OrderId, { outcome, turns, orders }: Whole): Promise<void> {
    const { outcome: ended, spent, turn } = await bench.position(id);
    assert.deepEqual([ended, turn, spent.calls], [outcome, turns, turns]);
    const paid = await bench.completions(id);
    assert.ok(paid >= turns && paid <= spent.calls + spent.lostCalls, `${paid} were paid for`);
    const counts = await bench.orders.partners.counts(businessKey(orderIdOfRequest(id)));
    assert.deepEqual([counts.charge, counts.order, counts.mail], [orders, orders, orders]);
    const place = await bench.agent.transcript(id);
    assert.ok(place.kind === 'position');
    assert.equal((await readEntries(store, place.position.head)).length, turns);
    const { rows } = await bench.orders.pool.query(
      `SELECT state, count(*)::int AS n FROM queue.ledger WHERE run_id = $1 GROUP BY state`,
      [agentRunIdOf(id)],
    );
    assert.deepEqual(rows, [{ state: 'done', n: turns }]);
    const left = await engine.transport.counts(AGENTS_QUEUE);
    assert.deepEqual([left.available, left.inFlight, left.delayed, left.dead], [0, 0, 0, 0]);
  }

  test('a worker that dies at any of its commits loses one call at most, and nothing is done twice', async () => {
    const refused = await bench.asked(TOO_CHEAP, { policy });
    const short = await liveOnce(refused);
    await assertWhole(refused, REFUSED);
    const bought = await bench.asked(undefined, { policy });
    const long = await liveOnce(bought);
    await assertWhole(bought, BOUGHT);
    // The claim, one for each call and one for its tools, the end; and the order's.
    assert.deepEqual([short.commits, long.commits], [7, 11]);
    let lost = 0;
    for (let commit = 1; commit <= long.commits; commit += 1) {
      // Up to its last answer the cheaper one says as much.
      const [words, whole] =
        commit < short.commits ? [TOO_CHEAP, REFUSED] : ([undefined, BOUGHT] as const);
      for (const side of ['before', 'after'] as const) {
        const id = await bench.asked(words, { policy });
        const { dead } = await liveOnce(id, { commit, side });
        assert.ok(dead, `nobody died ${side} commit ${commit}`);
        await liveOnce(id);
        await assertWhole(id, whole);
        const { spent } = await bench.position(id);
        assert.ok(spent.lostCalls <= 1, `${spent.lostCalls} lost ${side} commit ${commit}`);
        lost += spent.lostCalls;
      }
    }
    assert.ok(lost > 0, 'no call was ever lost');
  });

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
