import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agentRunIdOf, orderIdOfRequest } from '../../core/agent/identity.ts';
import { readEntries } from '../../core/agent/transcript.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { AGENTS_QUEUE } from '../../queue/runs/inbox.ts';
import { openAgentByHand } from '../queue/support/agent-by-hand.ts';
import type { AgentByHand } from '../queue/support/agent-by-hand.ts';

interface Whole {
  outcome: string;
  turns: number;
  orders: number;
}
const TOO_CHEAP = '40 office chairs under 1 euro each';
const REFUSED: Whole = { outcome: 'refused', turns: 3, orders: 0 };
const BOUGHT: Whole = { outcome: 'completed', turns: 4, orders: 1 };

const policy = { settleMs: 0, maxLostWorkers: 1_000 };

let hand: AgentByHand;
before(async () => {
  hand = await openAgentByHand();
});
after(() => hand.close());

/** An answer for each turn, no call that is not in the account, and one order or none. */
async function assertWhole(id: OrderId, { outcome, turns, orders }: Whole): Promise<void> {
  const { bench, engine, store } = hand;
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
  const { bench, liveOnce } = hand;
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
