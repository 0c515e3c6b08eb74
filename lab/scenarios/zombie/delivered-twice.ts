import pg from 'pg';
import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { ORDERS_QUEUE, type WakeUp } from '../../../queue/runs/inbox.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { openMessages } from '../../observe/messages.ts';
import { countsOnce, untilThrough } from '../../observe/until.ts';
import type { Outcome, Stage } from '../../scenario.ts';

/**
 * A wake-up that is delivered again while its holder is alive, and the supplier slow. Ends only where
 * the second one is worked on beside the first: with the lease the order waits for the supplier.
 */
export async function deliveredTwice(stage: Stage): Promise<Outcome> {
  const { world: open, say } = stage;
  const world = await open({
    policy: { partnerTimeoutMs: 600_000, attemptTimeoutMs: 600_000 },
  });
  const messages = await openMessages(stage, world);
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
  stage.cleanUp(() => pool.end());
  const order = world.order('PO-2026-0193');
  const id = orderIdOf(order);
  const faultId = await world.partners.setFault({
    partner: 'supplier',
    operation: 'place',
    reference: businessKey(id),
    times: 1,
    effect: { kind: 'hang-before' },
  });
  await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  await world.partners.waitUntilHeld({ faultId }, 60_000);
  const body: WakeUp = { runId: businessKey(id) };
  await messages.send(pool, ORDERS_QUEUE, [{ body }]);
  await untilThrough(world, id);
  await say('woken a second time, the order is through; the first request is still out');
  await world.partners.release(faultId);
  const counts = await countsOnce(world, id, (now) => now.order > 1 && now.mail > 0);
  return judgeEffects(counts, ONCE);
}
