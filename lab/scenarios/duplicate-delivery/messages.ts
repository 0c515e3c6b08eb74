import { orderIdOf } from '../../../core/identity.ts';
import { LINES_QUEUE } from '../../../queue/joins/children.ts';
import { ORDERS_QUEUE } from '../../../queue/runs/inbox.ts';
import type { OpenTransport } from '../../../queue/transport/open.ts';
import { countMessages, openMessages } from '../../observe/messages.ts';
import { countsOnce, until, untilPosition } from '../../observe/until.ts';
import { whereInWords } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';
import { deliverTwice } from './deliver-twice.ts';
import { EARLY, judge, orderOfLines, SLOW_SKU, WAIT_MS } from './lines.ts';

/** Chain and queue: two workers on a transport that has every message twice. */
export async function duplicateMessages(stage: Stage): Promise<Outcome> {
  const limitMs = WAIT_MS[stage.size];
  const world = await stage.world({
    // A line that is kept out is no failure of the supplier's.
    policy: { partnerTimeoutMs: 2 * limitMs, attemptTimeoutMs: 3 * limitMs },
    // The chain asks for all lines in one step, which nothing extends.
    ...(stage.implementation === 'chain' && { workerEnv: { Q2T_VISIBILITY_MS: String(limitMs) } }),
  });
  const transport = await openMessages(stage, world);
  const order = orderOfLines(world, stage);
  const id = orderIdOf(order);
  const once = await deliverTwice(world.databaseUrl);
  if (world.implementation === 'queue') {
    const kept = { operation: 'quote', sku: SLOW_SKU, effect: { kind: 'hang-before' } } as const;
    await world.partners.setFault(kept);
  }
  await world.pipeline.submit(order, world.policy);
  if (world.implementation === 'chain') await once();
  const twice = (await countMessages(transport, world)).available;
  await stage.say(`one order was sent, messages in the queue: ${twice}`);
  await Promise.all([world.startWorker(), world.startWorker()]);

  if (world.implementation === 'queue') {
    await untilOnlyTheSlowAreOut(world, transport, limitMs);
    await stage.say(`all lines but two have ended: ${await whereInWords(world, id)}`);
    await world.partners.clearFault();
    const { status } = await untilPosition(
      world,
      id,
      (position) => position.status === 'ended' || position.status === 'stuck',
      limitMs,
    );
    await stage.say(`then the last two: ${await whereInWords(world, id)}`);
    if (status === 'stuck') return { verdict: 'broke', how: EARLY, counted: {} };
  }
  const mails = world.implementation === 'chain' ? 2 : 1;
  const counts = await countsOnce(world, id, ({ mail }) => mail >= mails, limitMs);
  const { dead } = await until('every message handled', async () => {
    const left = await countMessages(transport, world);
    return left.available + left.inFlight + left.delayed === 0 ? left : undefined;
  });
  await stage.say(`messages left: none; dead: ${dead}; orders at the supplier: ${counts.order}`);
  if (dead > 0) return { verdict: 'broke', how: `${dead} dead letters`, counted: {} };
  return judge(world, order, counts);
}

/** Whoever holds a line now waits for the supplier, and the run has looked at all that came before. */
async function untilOnlyTheSlowAreOut(
  { partners }: World,
  transport: OpenTransport,
  limitMs: number,
): Promise<void> {
  const looked = async () => {
    const held = await partners.held({ operation: 'quote' });
    const lines = await transport.counts(LINES_QUEUE);
    // Asked after the lines: what ended until then has woken the run.
    const orders = await transport.counts(ORDERS_QUEUE);
    const linesDone = lines.available + lines.delayed === 0 && lines.inFlight === held.length;
    const runLooked = orders.available + orders.delayed + orders.inFlight === 0;
    return held.length > 0 && linesDone && runLooked ? true : undefined;
  };
  await until('all lines but the slow ones have ended', looked, limitMs);
}
