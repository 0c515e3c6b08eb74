import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../../core/order/schema.ts';
import { INGEST_QUEUE } from '../../queue/ingest/accept.ts';
import { CHAIN_QUEUE } from '../../queue/chain/handle.ts';
import { openMessages } from '../observe/messages.ts';
import { until } from '../observe/until.ts';
import { seconds } from '../observe/words.ts';
import { lot } from '../running/lot.ts';
import type { Outcome, Plot, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { deliver } from './burst/sender.ts';

const WEBHOOKS = { small: 1_000, full: 50_000 } as const;
/** Enough to know the rate of what is not the point, at a tenth of the minutes it takes. */
const STRAIGHT = { small: 250, full: 5_000 } as const;
/** Senders repeat what they are not sure of. */
const SENT_TWICE = 0.02;
const SAMPLE_MS = 100;

export const burst: Scenario = {
  name: 'burst',
  claim: 'a burst of webhooks is taken at once, each order once, also while the door is killed',
  about: 'a queue absorbs what an engine should not: most deployments keep one in front of it',
  fault:
    'all webhooks at once, 2 % of them sent twice, no order worker up, the ingest killed half way',
  counts: 'answers to the senders against runs (on the chain: messages); the backlog over time',
  code: {
    chain: ['queue/chain/open.ts'],
    queue: ['queue/ingest/accept.ts', 'queue/ingest/batched-send.ts', 'queue/ingest/forward.ts'],
    temporal: [
      'workers/ingest.ts',
      'queue/ingest/forward.ts',
      'client/pipelines/temporal/submit.ts',
    ],
  },
  expected: {
    chain: { verdict: 'broke', how: 'what was sent twice is carried out twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  seconds: 40,
  run: (stage) => (stage.implementation === 'chain' ? intoTheChain(stage) : intoRuns(stage)),
};

/** The orders of a burst, in the order in which they are sent. */
function webhooks({ seed }: Stage, world: World, name: string, count: number): Order[] {
  const refs = Array.from({ length: count }, (_, n) => `PO-${name}-${n}`);
  const order = (ref: string) => world.order(ref);
  return refs.flatMap((ref) => (lot(seed, ref) < SENT_TWICE ? [ref, ref] : [ref]).map(order));
}

/** A chain has no runs to compare with: every webhook is a message. */
async function intoTheChain(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const sent = webhooks(stage, world, 'straight', WEBHOOKS[stage.size]);
  const straight = await deliver(sent, (order) => world.pipeline.submit(order, world.policy));
  const transport = await openMessages(stage, world);
  const { available } = await transport.counts(CHAIN_QUEUE);
  const twice = available - WEBHOOKS[stage.size];
  const counted = { webhooks: sent.length, orders: WEBHOOKS[stage.size], chains: available };
  const measured = { straight: straight.perSecond };
  if (twice < 0) return { verdict: 'broke', how: `${-twice} lost`, counted, measured };
  if (twice === 0) return { verdict: 'held', counted, measured };
  const how = 'what was sent twice is carried out twice';
  return { verdict: 'broke', how, counted, measured };
}

/** First straight in, then through a queue in front. */
async function intoRuns(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const straightIn = webhooks(stage, world, 'straight', STRAIGHT[stage.size]);
  const straight = await deliver(straightIn, (order) => world.pipeline.submit(order, world.policy));
  await stage.say(`straight in: ${straight.perSecond} webhooks a second`);

  const transport = await openMessages(stage, world);
  const backlogOf = async () => {
    const { available, inFlight, delayed } = await transport.counts(INGEST_QUEUE);
    return available + inFlight + delayed;
  };
  let ingest = await world.startIngest();
  const through = webhooks(stage, world, 'through', WEBHOOKS[stage.size]);
  const watched = watch(backlogOf);
  stage.cleanUp(watched.end);
  let accepted = 0;
  const front = await deliver(through, async (order) => {
    await post(`${ingest.url}/orders`, order);
    accepted += 1;
    if (accepted !== Math.round(through.length / 2)) return;
    await ingest.kill();
    ingest = await world.startIngest();
  });
  await stage.say(`through the queue: ${front.perSecond} a second, killed half way`);
  await until('everything handed on', async () => ((await backlogOf()) === 0 ? true : undefined));
  const plot = await watched.end();
  const dead = (await transport.counts(INGEST_QUEUE)).dead;

  const orders = new Set([...straightIn, ...through].map(({ orderRef }) => orderRef));
  const runs = await until('all runs listed', async () => {
    const listed = await world.pipeline.list({ buyerId: world.name, limit: orders.size * 2 });
    if (listed.kind === 'cannot') throw new Error(listed.reason);
    // Temporal's list lags behind by moments; what is too few in the end is lost.
    return listed.runs.length >= orders.size ? listed.runs : undefined;
  });
  const twice = runs.length - new Set(runs.map(({ id }) => id.orderRef)).size;
  const lost = [...orders].filter((ref) => !runs.some(({ id }) => id.orderRef === ref)).length;
  const sent = straightIn.length + through.length;
  const counted = { webhooks: sent, orders: orders.size, runs: runs.length, dead };
  const measured = {
    straight: straight.perSecond,
    'through a queue': front.perSecond,
    'handed on after': seconds((plot.points.at(-1)?.[0] ?? 0) * 1_000),
  };
  if (lost + twice + dead > 0) {
    return {
      verdict: 'broke',
      how: `${lost} lost, ${twice} twice, ${dead} dead`,
      counted,
      measured,
      plot,
    };
  }
  return { verdict: 'held', counted, measured, plot };
}

async function post(url: string, order: Order): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const answer = await response.text();
  if (response.status !== 202) throw new Error(`${response.status} ${answer}`);
}

/** Samples the backlog until it is told to end. */
function watch(backlogOf: () => Promise<number>): { end: () => Promise<Plot> } {
  const began = performance.now();
  const points: [number, number][] = [];
  let over = false;
  const sampling = (async () => {
    while (!over) {
      points.push([(performance.now() - began) / 1_000, await backlogOf()]);
      await sleep(SAMPLE_MS);
    }
  })();
  // Who awaits the end hears of it; until then a failed look must not end the lab.
  sampling.catch(() => undefined);
  return {
    end: async () => {
      over = true;
      await sampling;
      return { title: 'Accepted and not yet handed on', unit: 'orders', points };
    },
  };
}
