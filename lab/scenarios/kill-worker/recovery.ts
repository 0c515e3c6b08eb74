import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { untilThrough } from '../../observe/until.ts';
import type { Stage } from '../../scenario.ts';

/** From the kill of a worker to the end of its order, ms, when a worker that is silent for `visibilityMs` counts as lost. */
export async function recoveryAt(
  { world: open, say }: Stage,
  visibilityMs: number,
): Promise<number> {
  const policy = { heartbeatMs: visibilityMs, partnerTimeoutMs: 30_000, attemptTimeoutMs: 60_000 };
  const world = await open({ policy });
  const order = world.order('PO-2026-0196');
  const id = orderIdOf(order);
  await world.partners.setFault({ partner: 'payments', times: 1, effect: { kind: 'hang-after' } });
  const worker = await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  await world.partners.waitUntilHeld({ reference: businessKey(id), acted: true }, 60_000);
  await worker.kill();
  const killedAt = performance.now();
  const successor = await world.startWorker();
  await untilThrough(world, id);
  const recoveryMs = performance.now() - killedAt;
  await say(`silent for ${visibilityMs} ms: through ${Math.round(recoveryMs)} ms after the kill`);
  await successor.stop();
  return recoveryMs;
}
