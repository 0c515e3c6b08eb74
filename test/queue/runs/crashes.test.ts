import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { MAIL_QUEUE } from '../../../queue/joins/children.ts';
import { workOnChild } from '../../../queue/joins/work-on-child.ts';
import { handleWakeUp } from '../../../queue/runs/handle-wake-up.ts';
import { ORDERS_QUEUE } from '../../../queue/runs/inbox.ts';
import { sendMail } from '../../../queue/steps/send-mail.ts';
import type { Policy } from '../../../core/policy.ts';
import { quickPolicy } from '../../support/orders.ts';
import { storyOf } from '../support/bench.ts';
import { useIdle } from '../support/engine.ts';
import type { RunInHand } from '../support/engine.ts';
import { mortal } from '../support/mortal.ts';
import type { Death, MortalEngine } from '../support/mortal.ts';
import { ONCE } from '../../../lab/observe/effects.ts';
import { happened } from '../../support/counts.ts';

/** A late request has landed before the dead worker's successor comes: its process is this one. */
const policy: Policy = { ...quickPolicy, settleMs: 0, maxLostWorkers: 1_000 };

const TEN_STEPS = [
  'started',
  ...[
    'validate',
    'price',
    'credit',
    'screen',
    'reserve',
    'approve',
    'charge',
    'place',
    'invoice',
    'close',
  ].map((step) => `step-done ${step}`),
  'ended completed',
];

describe('an order whose workers die at their commits', () => {
  const on = useIdle();
  beforeEach(async () => {
    for (const queue of [ORDERS_QUEUE, MAIL_QUEUE]) await on.idle.engine.transport.purge(queue);
  });

  /** Everything that can be received now, one after the other, until there is nothing or it is dead. */
  async function live(life: MortalEngine): Promise<void> {
    const { engine } = life;
    const options = { max: 1, visibilityMs: 3_600_000, waitMs: 0 };
    for (;;) {
      const [order] = await engine.transport.receive(ORDERS_QUEUE, options);
      const [mail] = order ? [] : await engine.transport.receive(MAIL_QUEUE, options);
      if (!order && !mail) return;
      try {
        if (order) await handleWakeUp(engine, ORDERS_QUEUE, order);
        if (mail) await workOnChild(engine, MAIL_QUEUE, sendMail, mail);
      } catch (error) {
        // What a dead process throws nobody sees.
        if (!life.dead) throw error;
      }
      if (life.dead) return;
    }
  }

  /** What time does after a death: leases run out, messages come back. */
  async function wait(runId: string): Promise<void> {
    await on.lose(runId);
    await on.bench.pool.query(
      `UPDATE queue.join_child SET lease_until = statement_timestamp() - interval '1 second'
       WHERE lease_until IS NOT NULL AND join_id LIKE $1 || '/%'`,
      [runId],
    );
    await on.bench.pool.query('UPDATE queue.message SET visible_at = statement_timestamp()');
  }

  async function token(runId: string): Promise<bigint> {
    const { rows } = await on.bench.pool.query<{ token: string }>(
      'SELECT token FROM queue.run WHERE id = $1',
      [runId],
    );
    return BigInt(rows[0]?.token ?? -1);
  }

  /** One life with the given end, then the time until the next one may begin. Returns whether it died. */
  async function liveOnce(runId: string, death?: Death): Promise<MortalEngine> {
    await wait(runId);
    const before = await token(runId);
    const life = mortal(on.idle.engine, death);
    await live(life);
    assert.ok((await token(runId)) >= before, 'the token went back');
    return life;
  }

  /** The order is carried out once, and nothing of it is left anywhere. */
  async function assertOnce({ id, runId }: RunInHand): Promise<void> {
    assert.deepEqual(storyOf(await on.bench.position(id)), TEN_STEPS);
    const counts = await on.bench.partners.counts(runId);
    assert.deepEqual(happened(counts), ONCE);
    await assertNothingLeft(runId);
  }

  async function assertNothingLeft(runId: string): Promise<void> {
    // What was asked of the bureau by a worker that died nobody needs to know of a cancelled order.
    const { rows } = await on.bench.pool.query(
      `SELECT l.step, l.state FROM queue.ledger l JOIN queue.run r ON r.id = l.run_id
       WHERE r.id = $1 AND (l.state NOT IN ('done', 'undone') OR l.state = 'done' AND l.outcome IS NULL)
         AND NOT (r.outcome = 'cancelled' AND l.step IN ('credit', 'screen'))`,
      [runId],
    );
    assert.deepEqual(rows, []);
    for (const queue of [ORDERS_QUEUE, MAIL_QUEUE]) {
      const { available, inFlight, delayed, dead } = await on.idle.engine.transport.counts(queue);
      assert.deepEqual([available, inFlight, delayed, dead], [0, 0, 0, 0], queue);
    }
  }

  test('is carried out once, wherever the first one dies, before or after the commit', async () => {
    const undisturbed = await on.submitted(policy);
    const { commits } = await liveOnce(undisturbed.runId);
    await assertOnce(undisturbed);
    assert.ok(commits >= 10, `only ${commits} commits were seen`);
    for (let commit = 1; commit <= commits; commit += 1) {
      for (const side of ['before', 'after'] as const) {
        const order = await on.submitted(policy);
        const { dead } = await liveOnce(order.runId, { commit, side });
        assert.ok(dead, `nobody died ${side} commit ${commit}`);
        await liveOnce(order.runId);
        await assertOnce(order);
      }
    }
  });

  test('is carried out once or wholly undone, however often they die, whatever wakes it and whoever cancels it', async () => {
    const death = fc.record({
      commit: fc.integer({ min: 1, max: 8 }),
      side: fc.constantFrom<Death['side']>('before', 'after'),
      meanwhile: fc.constantFrom('nothing', 'nothing', 'wake', 'cancel'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(death, { maxLength: 6 }), async (deaths) => {
        const order = await on.submitted(policy);
        const { id, runId } = order;
        const { pool, transport } = on.idle.engine;
        for (const { meanwhile, ...at } of deaths) {
          await liveOnce(runId, at);
          if (meanwhile === 'wake') await transport.send(pool, ORDERS_QUEUE, [{ body: { runId } }]);
          if (meanwhile === 'cancel') await on.bench.pipeline.cancel(id, 'ada', 'enough');
        }
        await liveOnce(runId);
        const { status, outcome } = await on.bench.position(id);
        assert.equal(status, 'ended');
        if (outcome === 'completed') {
          const counts = await on.bench.partners.counts(runId);
          assert.deepEqual(happened(counts), ONCE);
        } else {
          const counts = await on.bench.partners.counts(runId);
          const { reservation, release, charge, refund, order: placed, cancel, mail } = counts;
          assert.deepEqual([release, refund, cancel], [reservation, charge, placed]);
          assert.ok(Math.max(reservation, charge, placed, counts.enquiry) <= 1);
          assert.deepEqual([outcome, mail], ['cancelled', 0]);
        }
        await assertNothingLeft(runId);
      }),
      { numRuns: 20 },
    );
  });
});
