import { countMessages, countsInWords, openMessages, QUEUES } from '../observe/messages.ts';
import { whereInWords } from '../observe/words.ts';
import type { Figures, Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { lookInto } from './where-is-it/look.ts';
import {
  keepThere,
  NEW,
  placedOrders,
  PLACES,
  standsAt,
  untilThere,
  type Placed,
} from './where-is-it/places.ts';

/** Orders at every step, and orders that nobody has begun. */
const SIZES = { small: { begun: 54, fresh: 6 }, full: { begun: 450, fresh: 50 } };

export const whereIsIt: Scenario = {
  name: 'where-is-it',
  claim: '"where is this order?" has an answer for every order, with no worker alive',
  about: 'a queue knows messages, not runs: no look-up by order, and searching it changes it',
  fault:
    'orders are kept at each of the ten steps by partners that ask to come back in an hour, by a person, ' +
    'by a date; then the workers are killed and some more orders come',
  counts:
    'orders said to be where they were made to stand; what counts and a search of the queue say',
  code: {
    chain: ['queue/chain/open.ts', 'queue/transport/counts.ts', 'queue/transport/receive.ts'],
    queue: ['queue/runs/where.ts', 'queue/migrations/0100-runs.sql'],
    temporal: ['client/pipelines/temporal/where.ts', 'workflows/position.ts'],
  },
  expected: {
    chain: {
      verdict: 'cannot',
      reason:
        'no row says where an order is: the state is in the bodies of messages, and receiving one takes it away',
    },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: find,
  limitMs: { small: 240_000 },
  seconds: 20,
};

async function find(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const { begun, fresh } = SIZES[stage.size];
  const placed = placedOrders(world, PLACES, begun);
  const untouched = placedOrders(world, [NEW], fresh);
  await keepThere(world, placed);
  const worker = await world.startWorker();
  await submit(world, placed);
  await untilThere(world, placed);
  await worker.kill();
  await submit(world, untouched);
  const all = [...placed, ...untouched];
  await stage.say(`${all.length} orders at all steps, no worker alive`);

  const looked = await lookAtTheQueue(stage, world);
  const [some] = all;
  if (some) await stage.say(`where is ${some.id.orderRef}? ${await whereInWords(world, some.id)}`);
  const answer = await askForAll(world, all);
  if (answer.kind === 'cannot') return { verdict: 'cannot', reason: answer.reason };
  const { right, times } = answer;
  const counted = { asked: all.length, right, ...looked };
  const measured = { p50: inMs(times, 0.5), p99: inMs(times, 0.99) };
  return right === all.length
    ? { verdict: 'held', counted, measured }
    : { verdict: 'broke', how: `${all.length - right} orders said to be elsewhere`, counted };
}

async function submit({ pipeline, policy }: World, placed: readonly Placed[]): Promise<void> {
  for (const { order } of placed) await pipeline.submit(order, policy);
}

/** What an engineer who opens the queue's console sees first, and what a search does. */
async function lookAtTheQueue(stage: Stage, world: World): Promise<Figures> {
  const [queue] = QUEUES[world.implementation];
  if (queue === undefined) return {};
  const transport = await openMessages(stage, world);
  await stage.say(`the console: ${countsInWords(await countMessages(transport, world))}`);
  const { messages, hidden, receives } = await lookInto(transport, queue);
  if (hidden !== messages || receives !== 2) throw new Error('looking has changed nothing');
  await stage.say(
    `searched by receiving, twice: ${hidden} messages hidden from the workers meanwhile, ` +
      'each one two receives nearer to the dead letters',
  );
  return { 'hidden by a search': hidden };
}

type Answers = { kind: 'cannot'; reason: string } | { kind: 'all'; right: number; times: number[] };

/** Asks for each order in turn, and takes the time, ms. */
async function askForAll({ pipeline }: World, all: readonly Placed[]): Promise<Answers> {
  const times: number[] = [];
  let right = 0;
  for (const { id, place } of all) {
    const began = performance.now();
    const answer = await pipeline.where(id);
    times.push(performance.now() - began);
    if (answer.kind === 'cannot') return answer;
    if (answer.kind === 'position' && standsAt(answer.position, place)) right += 1;
  }
  return { kind: 'all', right, times };
}

function inMs(times: readonly number[], share: number): string {
  const sorted = times.toSorted((a, b) => a - b);
  return `${(sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(1)} ms`;
}
