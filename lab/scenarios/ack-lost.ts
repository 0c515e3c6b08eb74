import { businessKey, orderIdOf } from '../../core/identity.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { countsOnce, untilThrough } from '../observe/until.ts';
import type { Scenario } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { armLoss, type Loss } from './ack-lost/arm.ts';

/** What gets lost, order by order, with the name that the count of placed orders goes by. */
const LOSSES: readonly { orderRef: string; loss: Loss; name: string }[] = [
  { orderRef: 'PO-2026-0193', loss: 'answer', name: 'orders when only the answer is lost' },
  { orderRef: 'PO-2026-0194', loss: 'request', name: 'when the request is lost' },
  { orderRef: 'PO-2026-0195', loss: 'answer-and-worker', name: 'when answer and worker are lost' },
];

export const ackLost: Scenario = {
  name: 'ack-lost',
  claim: 'a worker that cannot tell whether its "done" arrived does nothing twice',
  about: 'a consumer may die, or its acknowledgement be lost, after the work and before the delete',
  fault:
    'on the wire, at the write that says an order is placed (a commit; at Temporal the call ' +
    'RespondActivityTaskCompleted): the answer is lost and the worker killed, or the request never ' +
    'arrives. The answer lost alone is shown beside them: it proves nothing, since a client that ' +
    'lives asks again. The one that used to be worse, tasks in the lost answer of another task, ' +
    'cannot happen here: activities have task queues of their own',
  counts: 'orders the supplier has of each, and every other effect',
  code: {
    chain: ['queue/chain/handle.ts'],
    queue: ['queue/runs/transition.ts', 'queue/ledger/effect.ts'],
    temporal: ['activities/place.ts', 'activities/attempt.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  seconds: 20,
  async run({ world: open, say, implementation }) {
    // The chain's messages are hidden for as long as no worker on a slow machine needs for one link.
    const world = await open({
      wired: true,
      ...(implementation === 'chain' && { workerEnv: { Q2T_VISIBILITY_MS: '5000' } }),
    });
    let worker = await world.startWorker();
    for (const { orderRef, loss } of LOSSES) {
      await lose(world, orderRef, loss, async () => {
        await worker.kill();
        await say(`worker ${worker.pid} killed, as nobody told it that ${orderRef} was written`);
        worker = await world.startWorker();
      });
      await say(`${orderRef}: lost, ${loss.replaceAll('-', ' ')}`);
    }
    const counts = await Promise.all(
      LOSSES.map(async ({ orderRef }) => {
        const id = orderIdOf(world.order(orderRef));
        await untilThrough(world, id);
        return countsOnce(world, id, ({ mail }) => mail > 0);
      }),
    );
    const counted = Object.fromEntries(LOSSES.map(({ name }, n) => [name, counts[n]?.order ?? 0]));
    return together(
      counts.map((each) => judgeEffects(each, ONCE)),
      counted,
    );
  },
};

/** Has the order placed and loses what the worker says of that. */
async function lose(
  world: World,
  orderRef: string,
  loss: Loss,
  killAndReplace: () => Promise<void>,
): Promise<void> {
  const order = world.order(orderRef);
  const reference = businessKey(orderIdOf(order));
  const faultId = await world.partners.setFault({
    partner: 'supplier',
    operation: 'place',
    reference,
    times: 1,
    effect: { kind: 'hang-after' },
  });
  await world.pipeline.submit(order, { ...world.policy, partnerTimeoutMs: 30_000 });
  await world.partners.waitUntilHeld({ faultId, acted: true }, 60_000);
  // Whatever this run writes next is that the order is placed.
  const armed = armLoss(world, world.watch(orderIdOf(order)), loss, killAndReplace);
  await world.partners.release(faultId);
  await armed.done;
}
