import { isDeepStrictEqual } from 'node:util';
import { businessKey, orderIdOf, type OrderId } from '../../../core/identity.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { freePort } from '../../../stack/ports.ts';
import type { Counts } from '../../observe/effects.ts';
import { countsOnce, untilThrough } from '../../observe/until.ts';
import { whereInWords } from '../../observe/words.ts';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';
import { stopBeforePlacing } from './before-placing.ts';
import { staleWritesRefused } from './metrics.ts';

export interface Frozen {
  /** The one it waited for, the one it was about to place, and the one it got when it woke. */
  orders: { counts: Counts; changed: boolean }[];
  /** What the woken worker's own metrics say; where there are none, undefined. */
  refused: number | undefined;
  /** From the freeze until the successor had finished both. */
  recoveryMs: number;
}

/** Freezes a worker, lets another finish what it had, and wakes it. `cut`: its connections to Temporal end with the freeze. */
export async function freezeAndThaw(stage: Stage, { cut }: { cut: boolean }): Promise<Frozen> {
  const { implementation, say } = stage;
  const world = await openWorld(stage);
  const metricsPort = await freePort();
  const zombie = await world.startWorker({ Q2T_METRICS_PORT: String(metricsPort) });

  const waiting = await submit(world, 'PO-2026-0193', {
    partner: 'supplier',
    operation: 'place',
    effect: { kind: 'hang-after' },
  });
  await world.partners.waitUntilHeld({ faultId: waiting.faultId }, 60_000);
  const deciding = await stopBeforePlacing(stage, world, 'PO-2026-0194');
  zombie.freeze();
  const frozenAt = performance.now();
  if (cut && implementation === 'temporal') world.wire.cut(zombie.client);
  await say(`worker ${zombie.pid} frozen with two orders in its hands`);

  const successor = await world.startWorker();
  const both = [waiting.id, deciding.id];
  for (const id of both) await untilThrough(world, id);
  for (const id of both) await countsOnce(world, id, ({ mail }) => mail > 0);
  const recoveryMs = performance.now() - frozenAt;
  await successor.kill();
  const before = await Promise.all(both.map((id) => world.pipeline.where(id)));
  await say(`another has finished them: ${await whereInWords(world, waiting.id)}`);

  await world.partners.release(waiting.faultId);
  await deciding.letGo();
  zombie.thaw();
  const awake = await submit(world, 'PO-2026-0195');
  await untilThrough(world, awake.id);
  await say(`it woke up, said what it had to say, and carried out ${awake.id.orderRef}`);

  // On the chain what it has to say is a message, with more effects behind it.
  const settled = (counts: Counts) => counts.mail > (implementation === 'chain' ? 1 : 0);
  const after = await Promise.all(both.map((id) => world.pipeline.where(id)));
  const changed = before.map((was, n) => !isDeepStrictEqual(was, after[n]));
  const orders = [];
  for (const [n, id] of both.entries()) {
    orders.push({ counts: await countsOnce(world, id, settled), changed: changed[n] ?? true });
  }
  orders.push({
    counts: await countsOnce(world, awake.id, ({ mail }) => mail > 0),
    changed: false,
  });
  const refused = implementation === 'queue' ? await staleWritesRefused(metricsPort) : undefined;
  return { orders, refused, recoveryMs };
}

/** Nobody gives up waiting but for a lease, a heartbeat or a visibility timeout. */
function openWorld({ world, implementation }: Stage): Promise<World> {
  return world({
    wired: true,
    policy: { partnerTimeoutMs: 600_000, attemptTimeoutMs: 600_000 },
    ...(implementation === 'chain' && { workerEnv: { Q2T_VISIBILITY_MS: '5000' } }),
  });
}

async function submit(
  world: World,
  orderRef: string,
  fault?: FaultSpec,
): Promise<{ id: OrderId; faultId: string }> {
  const order = world.order(orderRef);
  const id = orderIdOf(order);
  const faultId = fault
    ? await world.partners.setFault({ ...fault, times: 1, reference: businessKey(id) })
    : '';
  await world.pipeline.submit(order, world.policy);
  return { id, faultId };
}
