import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { withTransaction } from '../../../queue/database.ts';
import { handleWakeUp } from '../../../queue/runs/handle-wake-up.ts';
import { deliver } from '../../../queue/runs/inbox.ts';
import { take } from '../../../queue/runs/take.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { useIdle } from '../support/engine.ts';

const policy = { ...quickPolicy, maxLostWorkers: 1_000 };

describe('wake-ups', () => {
  const on = useIdle();

  const receive = async (): Promise<ReceivedMessage[]> => {
    const options = { max: 10, visibilityMs: 3_600_000, waitMs: 0 };
    return on.idle.engine.transport.receive('orders', options);
  };
  const showAll = () =>
    on.bench.pool.query(
      `UPDATE queue.message SET visible_at = statement_timestamp() WHERE queue = 'orders'`,
    );
  test('whatever is delivered, lost, doubled or killed, no news is left unread and no message is left over', async () => {
    const command = fc.constantFrom('deliver', 'handle', 'die', 'redeliver', 'two-at-once');
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 16 }), async (commands) => {
        await on.idle.engine.transport.purge('orders');
        const order = anOrder();
        const runId = `${order.buyer.id}/${order.orderRef}`;
        // It waits for its lines, which never come: every look at it ends in the same wait.
        await on.idle.parkedForJoin(order, policy);
        const news = () =>
          withTransaction(on.idle.engine.pool, (tx) =>
            deliver(tx, on.idle.engine.transport, runId, { kind: 'timer', name: 'x' }),
          );
        const handleAll = async () => {
          for (const message of await receive())
            await handleWakeUp(on.idle.engine, 'orders', message);
        };
        let token = 0n;
        for (const next of commands) {
          if (next === 'deliver') await news();
          if (next === 'handle') await handleAll();
          if (next === 'redeliver') await showAll();
          if (next === 'die') {
            const [message] = await receive();
            if (message) await take(on.idle.engine, runId, message, true);
            await on.lose(runId);
          }
          if (next === 'two-at-once') {
            await news();
            await Promise.all([handleAll(), news(), handleAll()]);
          }
          const { rows } = await on.bench.pool.query<{ token: string }>(
            'SELECT token FROM queue.run WHERE id = $1',
            [runId],
          );
          const now = BigInt(rows[0]?.token ?? 0);
          assert.ok(now >= token, 'the token went back');
          token = now;
        }
        for (let left = 1; left > 0;) {
          await on.lose(runId);
          await showAll();
          await handleAll();
          left = (await on.idle.engine.transport.counts('orders')).available;
        }
        const { rows } = await on.bench.pool.query(
          `SELECT wake_seq = seen_seq AS read, lease_until, parked_for,
             (SELECT count(*)::int FROM queue.run_inbox WHERE run_id = $1) AS inbox
           FROM queue.run WHERE id = $1`,
          [runId],
        );
        assert.deepEqual(rows, [{ read: true, lease_until: null, parked_for: 'join', inbox: 0 }]);
      }),
      { numRuns: 25 },
    );
  });
});
