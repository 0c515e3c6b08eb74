import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { Implementation } from '../../core/contract.ts';
import { sharedKeyOfThreeSteps } from '../guards/effect-key.ts';
import { judgeEffects } from '../observe/effects.ts';
import { until, untilThrough } from '../observe/until.ts';
import type { Figures, Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { linesOf, workOf, type Work } from './three-steps/cost.ts';
import { openDoor, startStepWorker, type Door } from './three-steps/pipeline.ts';

const ORDERS = { small: 20, full: 500 };
const FOLDER = 'lab/scenarios/three-steps';
const THROUGH_MS = 180_000;

/** What somebody has written and read for three steps, besides the steps themselves. */
const OWN: Record<Implementation, readonly string[]> = {
  chain: [`${FOLDER}/chain.ts`],
  queue: [`${FOLDER}/queue.ts`],
  temporal: [`${FOLDER}/workflow.ts`, `${FOLDER}/temporal.ts`],
};

/** What the team keeps running under it. */
const UNDER: Record<Implementation, readonly string[]> = {
  chain: ['queue/transport/*.ts'],
  queue: ['queue/{transport,runs,ledger,joins,timers,gates,dead-letters,limits,worker}/*.ts'],
  temporal: [],
};

export const threeSteps: Scenario = {
  name: 'three-steps',
  claim:
    'three steps, nobody to ask and nothing to deduplicate: every order through, whatever carries it',
  about:
    'for a three-step pipeline a chain of messages is the right amount of machinery, more is waste',
  fault:
    'SIGKILL of the worker while the warehouse has acted and not answered; both partners take keys and keep ' +
    'them for good, so that doing it again does no harm',
  counts:
    'enquiries and reservations; beside them what each side paid in code, rows, commits, events and time',
  code: {
    chain: ['lab/scenarios/three-steps/chain.ts', 'queue/transport/contract.ts'],
    queue: ['lab/scenarios/three-steps/queue.ts', 'queue/runs/transition.ts'],
    temporal: ['lab/scenarios/three-steps/workflow.ts', 'lab/scenarios/three-steps/temporal.ts'],
  },
  expected: {
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: carry,
  controls: [{ on: 'chain', without: sharedKeyOfThreeSteps, breaks: 'reserved twice', run: again }],
  limitMs: { small: 240_000 },
  seconds: 15,
};

async function carry(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const door = await openDoor(stage, world);
  await killInTheMiddle(stage, world, door);
  const worker = await startStepWorker(stage, world);
  await untilReserved(world, 1);
  await stage.say('the next worker did the step again, and the key made it one reservation');

  const count = ORDERS[stage.size];
  const orders = Array.from({ length: count }, (_, at) => world.order(`PO-${at + 1}`));
  const before = await workOf(world.databaseUrl);
  const began = performance.now();
  for (const order of orders) await door.submit(order);
  await untilReserved(world, count + 1);
  // There the run itself goes on to its end after the last step.
  if (world.implementation === 'queue') {
    for (const order of orders) await untilThrough(world, orderIdOf(order), THROUGH_MS);
  }
  const perOrderMs = (performance.now() - began) / count;
  const [first] = orders;
  const events = first && (await door.eventsOf?.(first));
  // A connection's work is in the statistics once it is closed.
  await worker.end('SIGTERM');
  const after = await workOf(world.databaseUrl);

  const effects = await world.partners.counts({ buyerId: world.name });
  const judged = judgeEffects(effects, { enquiry: count + 1, reservation: count + 1 });
  if (judged.verdict !== 'held') return judged;
  const counted = {
    orders: count + 1,
    'lines of code': await linesOf(...OWN[world.implementation]),
  };
  const measured = {
    ...(await costOf(world.implementation, before, after, count)),
    ...(events !== undefined && { 'events an order': events }),
    'ms an order': Math.round(perOrderMs),
  };
  await stage.say(`${count} orders: ${JSON.stringify(measured)}`);
  return { verdict: 'held', counted, measured };
}

/** Only the order whose worker dies: without a key the step that is done again is done twice. */
async function again(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  await killInTheMiddle(stage, world, await openDoor(stage, world));
  await startStepWorker(stage, world);
  await untilReserved(world, 2);
  const effects = await world.partners.counts({ buyerId: world.name });
  return judgeEffects(effects, { enquiry: 1, reservation: 1 });
}

async function killInTheMiddle(stage: Stage, world: World, door: Door): Promise<void> {
  const order = world.order('PO-2026-0193');
  const reference = businessKey(orderIdOf(order));
  const effect = { kind: 'hang-after' } as const;
  await world.partners.setFault({ operation: 'reserve', reference, times: 1, effect });
  const worker = await startStepWorker(stage, world);
  await door.submit(order);
  await world.partners.waitUntilHeld({ operation: 'reserve', acted: true }, 60_000);
  await worker.end('SIGKILL');
  await stage.say('worker killed; the warehouse had reserved and not answered');
  await world.partners.clearFault();
}

/** The effect of the last step is all that can be seen of an order on every side. */
async function untilReserved({ partners, name }: World, count: number): Promise<void> {
  await until(
    `${count} orders through`,
    async () => {
      const { reservation } = await partners.counts({ buyerId: name });
      return reservation >= count ? true : undefined;
    },
    THROUGH_MS,
  );
}

async function costOf(
  implementation: Implementation,
  before: Work,
  after: Work,
  orders: number,
): Promise<Figures> {
  const under = UNDER[implementation];
  if (under.length === 0) return { under: 'a server, here one that keeps nothing on disk' };
  return {
    under: `${await linesOf(...under)} lines`,
    'commits an order': ((after.commits - before.commits) / orders).toFixed(1),
    'rows an order': ((after.rows - before.rows) / orders).toFixed(1),
  };
}
