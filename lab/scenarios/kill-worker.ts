import { businessKey, orderIdOf } from '../../core/identity.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { countsOnce, untilThrough } from '../observe/until.ts';
import { seconds, whereInWords } from '../observe/words.ts';
import type { Scenario } from '../scenario.ts';

export const killWorker: Scenario = {
  name: 'kill-worker',
  claim: 'a worker that dies in the middle of a step costs time, never a second effect',
  about: 'a queue delivers again what nobody acknowledged; what the dead worker did is not in it',
  fault: 'SIGKILL while the supplier, who takes no keys, has placed the order and not answered',
  counts: 'orders the supplier has, per order sent; time from the kill to the end',
  code: {
    chain: ['queue/chain/steps.ts'],
    queue: ['queue/ledger/effect.ts', 'queue/steps/place.ts'],
    temporal: ['activities/place.ts', 'workflows/purchase-order.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  async run({ world: open, say }) {
    const world = await open();
    const order = world.order('PO-2026-0193');
    const id = orderIdOf(order);
    await world.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      times: 1,
      effect: { kind: 'hang-after' },
    });
    const worker = await world.startWorker();
    await world.pipeline.submit(order, world.policy);
    await world.partners.waitUntilHeld(
      { operation: 'place', reference: businessKey(id), acted: true },
      60_000,
    );
    const killedAt = performance.now();
    await worker.kill();
    await say(`worker ${worker.pid} killed; the supplier had placed the order`);
    await say(`where is ${id.orderRef}? ${await whereInWords(world, id)}`);
    await world.partners.clearFault();
    await world.startWorker();
    await untilThrough(world, id);
    const recovery = seconds(performance.now() - killedAt);
    const counts = await countsOnce(world, id, ({ mail }) => mail > 0);
    return judgeEffects(counts, ONCE, { recovery });
  },
};
