import { orderIdOf, type OrderId } from '../../core/identity.ts';
import { timersTable } from '../guards/timers.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { countsOnce, untilThrough } from '../observe/until.ts';
import { whereInWords } from '../observe/words.ts';
import type { Figures, Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { openCalendar } from './wake-on-thursday/calendar.ts';
import { chargeDay, DAYS, daysEarly, HOUR_MS, MINUTE_MS } from './wake-on-thursday/dates.ts';
import { refusals } from './wake-on-thursday/refusals.ts';

export const wakeOnThursday: Scenario = {
  name: 'wake-on-thursday',
  claim: `a charge due in ${DAYS} days is made on its day, by a worker that was not there when it was promised`,
  about:
    'a queue delays a message by 15 minutes at most and hides it for 12 hours; weeks are not its business',
  fault:
    `${DAYS} days pass with no worker at all; the one that comes an hour before the time has never seen ` +
    'the order. The workers have a transport with the limits of SQS',
  counts:
    'charges before the time and after it, by the date on the statement of the payments partner',
  code: {
    chain: ['queue/chain/steps.ts', 'queue/chain/handle.ts'],
    queue: ['queue/steps/charge.ts', 'queue/timers/set-timer.ts', 'queue/timers/fire-due.ts'],
    temporal: ['workflows/purchase-order.ts'],
  },
  expected: {
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: wake,
  controls: [
    { on: 'queue', without: timersTable, breaks: `charged ${DAYS} days early`, run: wakeTooSoon },
  ],
  seconds: 15,
};

async function wake(stage: Stage): Promise<Outcome> {
  const world = await stage.world({ workerEnv: { Q2T_TRANSPORT_PROFILE: 'sqs' } });
  const { day, dueAt } = chargeDay(new Date());
  const order = world.order('PO-2026-0193', { chargeOn: day });
  const id = orderIdOf(order);
  const refused = await refusals(stage, world);
  const calendar = await openCalendar(stage, world, id);

  await calendar.startWorker();
  await world.pipeline.submit(order, world.policy);
  const wakeUps = await calendar.untilItWaits();
  await stage.say(`to be charged on ${day}: ${await whereInWords(world, id)}`);
  await calendar.killWorker();
  await calendar.goTo(dueAt - HOUR_MS);
  await stage.say(`${DAYS} days later, and no worker: ${await whereInWords(world, id)}`);
  await calendar.startWorker();
  await calendar.quiet();
  const early = await world.partners.counts({ orderRef: id.orderRef, kind: 'charge' });
  if (early.charge > 0) return chargedEarly(world, id, dueAt);
  await stage.say('an hour before the time: a new worker is there, nothing is charged');

  await calendar.goTo(dueAt + MINUTE_MS);
  await untilThrough(world, id);
  const [charge] = await world.partners.effects({ orderRef: id.orderRef, kind: 'charge' });
  if (charge?.at.slice(0, day.length) !== day) {
    throw new Error(`charged on ${charge?.at}, not on ${day}`);
  }
  await stage.say(`charged at ${charge.at}`);
  const effects = await countsOnce(world, id, ({ mail }) => mail > 0);
  const judged = judgeEffects(effects, ONCE);
  return judged.verdict === 'held'
    ? { ...judged, counted: { ...judged.counted, ...wakeUps, ...refused } }
    : judged;
}

/** Where the wait is a timer of the process: one beyond 24.8 days goes off at once. */
async function wakeTooSoon(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const { day, dueAt } = chargeDay(new Date());
  const order = world.order('PO-2026-0193', { chargeOn: day });
  await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  return chargedEarly(world, orderIdOf(order), dueAt);
}

async function chargedEarly(world: World, id: OrderId, dueAt: number): Promise<Outcome> {
  await countsOnce(world, id, ({ charge }) => charge > 0);
  const charges = await world.partners.effects({ orderRef: id.orderRef, kind: 'charge' });
  const [charge] = charges;
  const counted: Figures = { charges: charges.length };
  if (!charge) return { verdict: 'held', counted };
  return {
    verdict: 'broke',
    how: `charged ${daysEarly(charge.at, dueAt)} days early`,
    counted,
  };
}
