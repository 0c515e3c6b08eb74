import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import { finishChild } from '../../../queue/joins/finish-child.ts';
import { takeChild } from '../../../queue/joins/take-child.ts';
import type { HeldChild } from '../../../queue/joins/take-child.ts';
import { LeaseLost } from '../../../queue/runs/fence.ts';
import { sweep } from '../../../queue/runs/sweep.ts';
import { sendNext } from '../../../queue/joins/start-join.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { useIdle } from '../support/engine.ts';

describe('a join on the queue', () => {
  const on = useIdle();

  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;

  /** An order of three lines whose children are in this test's hands and no worker's. */
  async function threeChildren() {
    const order = anOrder({ lines: 3 });
    const runId = refOf(order);
    const joinId = await on.idle.parkedForJoin(order, quickPolicy);
    const messages = await on.idle.receiveChildren(joinId);
    const take = async (n: number): Promise<HeldChild> => {
      const message = messages[n];
      assert.ok(message);
      const child = await takeChild(on.idle.engine, 'lines', message.body, message, true);
      assert.ok(child, 'the child was not to be had');
      return child;
    };
    return { order, runId, joinId, messages, take };
  }
  const ok = { kind: 'ok', value: '4.00' } as const;
  const joined = async (runId: string) => {
    const { rows } = await on.bench.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM queue.run_inbox
       WHERE run_id = $1 AND entry->>'kind' = 'joined'`,
      [runId],
    );
    return rows[0]?.n;
  };

  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ] as const;
  for (const order of orders) {
    test(`A10: children that end in the order ${order.join(', ')} continue their run once, after the last`, async () => {
      const { runId, take } = await threeChildren();
      for (const [place, n] of order.entries()) {
        assert.equal(await joined(runId), 0);
        await finishChild(on.idle.engine, await take(n), ok);
        assert.equal(await joined(runId), place === 2 ? 1 : 0);
      }
    });
  }

  test('A10: children that end at the same moment continue their run once', async () => {
    const { runId, take } = await threeChildren();
    const children = await Promise.all([take(0), take(1), take(2)]);
    await Promise.all(children.map((child) => finishChild(on.idle.engine, child, ok)));
    assert.equal(await joined(runId), 1);
  });

  test('A9: the last child, delivered twice to two consumers, ends once and continues once', async () => {
    const { runId, joinId, take, messages } = await threeChildren();
    for (const n of [0, 1]) await finishChild(on.idle.engine, await take(n), ok);
    const first = await take(2);
    await on.bench.pool.query(
      `UPDATE queue.join_child SET lease_until = statement_timestamp() - interval '1 second'
       WHERE join_id = $1 AND child_id = $2`,
      [joinId, first.childId],
    );
    const second = await take(2);
    const ends = await Promise.allSettled([
      finishChild(on.idle.engine, first, ok),
      finishChild(on.idle.engine, second, ok),
    ]);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
    assert.ok(ends[0]?.status === 'rejected' && ends[0].reason instanceof LeaseLost);
    assert.equal(await joined(runId), 1);
    const message = messages[2];
    assert.ok(message);
    const late = await takeChild(on.idle.engine, 'lines', message.body, message, true);
    assert.equal(late, undefined);
    assert.equal(await joined(runId), 1);
  });

  test('A3: a child that is finished by a thawed worker is refused; counter and continuation stay', async () => {
    const { runId, joinId, take } = await threeChildren();
    const frozen = await take(0);
    await on.bench.pool.query(
      `UPDATE queue.join_child SET lease_until = statement_timestamp() - interval '1 second'
       WHERE join_id = $1 AND child_id = $2`,
      [joinId, frozen.childId],
    );
    await finishChild(on.idle.engine, await take(0), ok);
    await assert.rejects(finishChild(on.idle.engine, frozen, ok), LeaseLost);
    const { rows } = await on.bench.pool.query('SELECT done FROM queue.run_join WHERE id = $1', [
      joinId,
    ]);
    assert.deepEqual(rows, [{ done: 1 }]);
    assert.equal(await joined(runId), 0);
  });

  test('a child whose message was lost is sent again by the sweep, and only then', async () => {
    const { joinId, runId } = await threeChildren();
    await on.idle.engine.transport.purge('lines');
    await on.bench.pool.query(
      `UPDATE queue.join_child SET sent_at = sent_at - interval '1 hour' WHERE join_id = $1`,
      [joinId],
    );
    const settings = { quietMs: 60_000, batch: 100 };
    const swept = await sweep(on.bench.pool, on.idle.engine.transport, settings);
    assert.equal(swept.children, 3);
    const again = await sweep(on.bench.pool, on.idle.engine.transport, settings);
    assert.equal(again.children, 0);
    for (const message of await on.idle.receiveChildren(joinId)) {
      const child = await takeChild(on.idle.engine, 'lines', message.body, message, true);
      assert.ok(child);
      await finishChild(on.idle.engine, child, ok);
    }
    assert.equal(await joined(runId), 1);
  });

  test('whatever the order of takes, losses and ends, every child ends once and the run continues once', async () => {
    const command = fc.record({ child: fc.nat(2), act: fc.constantFrom('take', 'lose', 'finish') });
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 24 }), async (commands) => {
        const { runId, joinId, messages } = await threeChildren();
        const held: HeldChild[][] = [[], [], []];
        let finished = 0;
        const take = async (n: number) => {
          const message = messages[n];
          assert.ok(message);
          const child = await takeChild(on.idle.engine, 'lines', message.body, message, true);
          if (child) held[n]?.push(child);
        };
        const finishAny = async (n: number) => {
          for (const child of held[n] ?? []) {
            await finishChild(on.idle.engine, child, ok).then(
              () => (finished += 1),
              (error: unknown) => assert.ok(error instanceof LeaseLost),
            );
          }
        };
        for (const { child, act } of commands) {
          if (act === 'take') await take(child);
          if (act === 'lose') {
            await on.bench.pool.query(
              `UPDATE queue.join_child SET lease_until = statement_timestamp() - interval '1 s'
               WHERE join_id = $1 AND child_id = $2 AND lease_until IS NOT NULL`,
              [joinId, String(child + 1)],
            );
          }
          if (act === 'finish') await finishAny(child);
          assert.equal(await joined(runId), finished === 3 ? 1 : 0);
        }
        for (const n of [0, 1, 2]) {
          await take(n);
          await finishAny(n);
        }
        assert.equal(finished, 3);
        assert.equal(await joined(runId), 1);
      }),
      { numRuns: 12 },
    );
  });

  test('nothing more is sent when nothing waits', async () => {
    const { joinId } = await threeChildren();
    const before = await on.idle.engine.transport.counts('lines');
    await sendNext(await on.idle.client(), on.idle.engine.transport, {
      joinId,
      queue: 'lines',
      count: 8,
    });
    assert.deepEqual((await on.idle.engine.transport.counts('lines')).available, before.available);
  });
});

describe('the lines of an order on the queue', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  test('A11: one ok, one dead, one slow: the run waits for the slow one, then sees a partial result and an operator is asked', async () => {
    const order = anOrder({ lines: 3 });
    const [one, two, three] = order.lines;
    assert.ok(one && two && three);
    await bench.partners.setFault({
      partner: 'supplier',
      operation: 'quote',
      sku: two.sku,
      effect: { kind: 'status', status: 400 },
    });
    const slow = await bench.partners.setFault({
      partner: 'supplier',
      operation: 'quote',
      sku: three.sku,
      times: 1,
      effect: { kind: 'hang-before' },
    });
    const id = orderIdOf(order);
    await bench.pipeline.submit(order, { ...quickPolicy, fanOut: 2, partnerTimeoutMs: 30_000 });
    await bench.until(id, ({ progress }) => progress === '2 of 3 lines priced');
    assert.equal((await bench.position(id)).status, 'running');
    await bench.partners.clearFault(slow);
    const stuck = await bench.until(id, ({ status }) => status === 'stuck');
    assert.match(stuck.waitingFor?.kind === 'operator' ? stuck.waitingFor.reason : '', /^line 2: /);
    await bench.partners.clearFault();
    await bench.pipeline.deadLetters.replay(id, { by: 'ops', why: 'the supplier is well again' });
    assert.equal((await bench.ended(id)).outcome, 'completed');
  });

  test('240 lines are priced, never more than eight of the order at the same time', async () => {
    const order = anOrder({ lines: 240 });
    const id = orderIdOf(order);
    const seen: number[] = [];
    await bench.pipeline.submit(order, quickPolicy);
    await bench.until(id, ({ status }) => {
      void bench.pool
        .query<{ n: number }>(
          `SELECT count(*)::int AS n FROM queue.join_child WHERE state = 'sent' AND join_id LIKE $1`,
          [`${order.buyer.id}/${order.orderRef}/%`],
        )
        .then(({ rows }) => seen.push(rows[0]?.n ?? 0))
        .catch(() => undefined);
      return status === 'ended';
    });
    assert.ok(Math.max(...seen) > 0, 'the order was never seen at work');
    assert.ok(Math.max(...seen) <= quickPolicy.fanOut, `saw ${Math.max(...seen)} lines out`);
    const position = await bench.position(id);
    assert.equal(position.outcome, 'completed');
    assert.match(
      position.history.find((entry) => entry.type === 'step-done' && entry.step === 'price')
        ?.type ?? '',
      /step-done/,
    );
  });
});
