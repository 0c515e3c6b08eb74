import { orderIdOf, type OrderId } from '../../../core/identity.ts';
import { withoutGuard, type Guard } from '../../guards/guard.ts';
import { chainWithVersions, oldChain } from '../../guards/versions.ts';
import { judgeEffects, ONCE, UNSCREENED } from '../../observe/effects.ts';
import { countMessages, openMessages } from '../../observe/messages.ts';
import { together } from '../../observe/together.ts';
import { countsOnce, until, untilThrough } from '../../observe/until.ts';
import { seconds } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import type { Boundary } from '../../wire/boundary.ts';
import type { World } from '../../world/world.ts';

const DAY_MS = 86_400_000;
const OLD = withoutGuard(oldChain);
/** Nothing extends a message here: what the killed worker held comes back soon. */
const WORKER = { Q2T_VISIBILITY_MS: '3000' };

export async function chainThroughDeploy(stage: Stage): Promise<Outcome> {
  const { say } = stage;
  const [world, id] = await betweenCreditAndApprove(stage);
  await world.startWorker(WORKER);
  await untilThrough(world, id);
  const broke = judgeEffects(await world.partners.counts({ orderRef: id.orderRef }), ONCE);
  await say(`the order in flight: ${broke.verdict === 'broke' ? broke.how : 'nothing amiss'}`);

  const versioned = await withVersionInTheBody(stage, chainWithVersions);
  await say(`with a version in the body: ${versioned.verdict}`);
  const drained = await drainedFirst(stage);
  await say(
    `drained in ${seconds(drained.ms)}; of the one charged in 25 days ${drained.left} left`,
  );
  const remedies = {
    'with a version in the body': versioned.verdict,
    'drained first, three orders': drained.outcome.verdict,
    'drained first, one charged in 25 days': `${drained.left} message left`,
  };
  return together([broke], remedies, { 'drained in': seconds(drained.ms) });
}

/** The old worker dies when the order's credit is known: the message that names `approve` is sent. */
async function betweenCreditAndApprove({ world: open }: Stage): Promise<[World, OrderId]> {
  const world = await open({ wired: true, workerEnv: WORKER });
  const old = await world.startWorker(OLD);
  const order = world.order('PO-IN-FLIGHT');
  const id = orderIdOf(order);
  const run = world.watch(id);
  const reached = world.wire.arm({
    at: linkOf(run, 2),
    side: 'after',
    action: 'stop-the-world',
    meanwhile: () => old.kill(),
  });
  await world.pipeline.submit(order, world.policy);
  await reached.done;
  return [world, id];
}

/** The boundary at which the order's nth link is done: the next message and the ack of this one. */
function linkOf(run: string, nth: number): (boundary: Boundary) => boolean {
  const links = new Set<number>();
  return (boundary) => {
    if (boundary.run !== run || !boundary.what.includes('ack')) return false;
    links.add(boundary.ordinal);
    return links.size === nth;
  };
}

async function withVersionInTheBody(stage: Stage, guard: Guard): Promise<Outcome> {
  const [world, id] = await betweenCreditAndApprove(stage);
  await world.startWorker({ ...WORKER, ...withoutGuard(guard) });
  const order = world.order('PO-NEW');
  await world.pipeline.submit(order, world.policy);
  for (const each of [id, orderIdOf(order)]) await untilThrough(world, each);
  const counts = (of: OrderId) => countsOnce(world, of, ({ mail }) => mail > 0);
  return together(
    [
      judgeEffects(await counts(id), UNSCREENED),
      judgeEffects(await counts(orderIdOf(order)), ONCE),
    ],
    {},
  );
}

/** Nobody submits any more; the deploy waits until no message is left. */
async function drainedFirst(stage: Stage): Promise<{ ms: number; outcome: Outcome; left: number }> {
  const world = await stage.world();
  const transport = await openMessages(stage, world);
  const left = async () => {
    const { available, inFlight, delayed } = await countMessages(transport, world);
    return available + inFlight + delayed;
  };
  await world.startWorker(OLD);
  const orders = [1, 2, 3].map((n) => world.order(`PO-DRAIN-${n}`));
  for (const order of orders) await world.pipeline.submit(order, world.policy);
  const began = performance.now();
  await until('the chain drained', async () => ((await left()) === 0 ? true : undefined));
  const ms = performance.now() - began;
  const counts = await Promise.all(
    orders.map(({ orderRef }) => world.partners.counts({ orderRef })),
  );
  const outcome = together(
    counts.map((each) => judgeEffects(each, UNSCREENED)),
    {},
  );
  const chargeOn = new Date(Date.now() + 25 * DAY_MS).toISOString().slice(0, 10);
  const later = world.order('PO-LATER', { chargeOn });
  await world.pipeline.submit(later, world.policy);
  await countsOnce(world, orderIdOf(later), ({ reservation }) => reservation > 0);
  await until('nothing to do but wait', async () => {
    const { available, inFlight } = await countMessages(transport, world);
    return available + inFlight === 0 ? true : undefined;
  });
  return { ms, outcome, left: await left() };
}
