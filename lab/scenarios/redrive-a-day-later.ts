import { businessKey, orderIdOf, type OrderId } from '../../core/identity.ts';
import { CHAIN_QUEUE } from '../../queue/chain/handle.ts';
import { ORDERS_QUEUE } from '../../queue/runs/inbox.ts';
import type { OpenTransport } from '../../queue/transport/open.ts';
import { askBeforeAct, ledger } from '../guards/ledger.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { openMessages } from '../observe/messages.ts';
import { together } from '../observe/together.ts';
import { countsOnce, until, untilThrough } from '../observe/until.ts';
import { whereInWords } from '../observe/words.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { NOBODY_DIES } from './ambiguous-charge/unhurried.ts';

const ORDERS = { small: 3, full: 14 } as const;
const DAY_MS = 24 * 3_600_000;

export const redriveADayLater: Scenario = {
  name: 'redrive-a-day-later',
  claim: 'dead letters that are put back a day later repeat no effect',
  about:
    'redrive runs a step again whose effects happened: the depth of the dead letters falls to zero, ' +
    'the number of charges rises, and only one of the two has a dashboard',
  fault:
    'payments charge and close the connection, then are down until the attempts are used up; ' +
    'the dead letters are put back after 25 hours, when the payment keys have expired',
  counts: 'dead letters before and after; charges at the partner',
  code: {
    chain: ['queue/transport/redrive.ts', 'queue/chain/steps.ts'],
    queue: [
      'queue/dead-letters/operate.ts',
      'queue/ledger/effect.ts',
      'queue/steps/charge.ts',
      'queue/ledger/reconcile.ts',
    ],
    temporal: ['workflows/operator.ts', 'activities/charge.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'charged twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  run: redriveLater,
  controls: [
    { on: 'queue', without: ledger, breaks: 'charged twice' },
    { on: 'temporal', without: askBeforeAct, breaks: 'charged twice' },
  ],
};

async function redriveLater(stage: Stage): Promise<Outcome> {
  const { workerEnv, policy } = NOBODY_DIES;
  const world = await stage.world({ workerEnv, policy: { ...policy, maxAttempts: 3 } });
  const transport = await openMessages(stage, world);
  const orders = Array.from({ length: ORDERS[stage.size] }, (_, n) =>
    world.order(`PO-2026-${String(193 + n).padStart(4, '0')}`),
  );
  const ids = orders.map(orderIdOf);
  for (const id of ids) await paymentsFail(world, id);
  await world.startWorker();
  for (const order of orders) await world.pipeline.submit(order, world.policy);

  const before = await until(
    `${world.implementation}: all orders among the dead letters`,
    async () => {
      const dead = await deadLetters(world, transport);
      return dead === ids.length ? dead : undefined;
    },
  );
  const charged = await charges(world);
  await stage.say(`payments are down; dead letters: ${before}, charges: ${charged}`);
  const [first] = ids;
  if (first) await stage.say(`where is ${first.orderRef}? ${await whereInWords(world, first)}`);
  await world.partners.advanceClock(DAY_MS + 3_600_000);
  await world.partners.clearFault();
  await stage.say('25 hours later payments are up again and have forgotten their keys');

  await putBack(stage, world, transport, ids);
  for (const id of ids) await untilThrough(world, id);
  const counts = [];
  for (const id of ids) counts.push(await countsOnce(world, id, ({ mail }) => mail > 0));
  const after = await deadLetters(world, transport);
  const chargedAfter = await charges(world);
  await stage.say(`the dashboard shows dead letters: ${after}`);
  await stage.say(`what only the books of the partner show: charges ${charged} → ${chargedAfter}`);
  return together(
    counts.map((each) => judgeEffects(each, ONCE)),
    { 'dead letters': `${before} → ${after}`, charges: `${charged} → ${chargedAfter}` },
  );
}

/** The first request charges; no answer comes, to that one or any later question. */
async function paymentsFail({ partners, implementation }: World, id: OrderId): Promise<void> {
  const payments = { partner: 'payments', reference: businessKey(id) } as const;
  await partners.setFault({ ...payments, operation: 'charge', effect: { kind: 'drop-after' } });
  await partners.setFault({
    ...payments,
    operation: 'findCharges',
    // Temporal's activity asks also before its first charge, which must happen for this to be a case.
    skip: implementation === 'temporal' ? 1 : 0,
    effect: { kind: 'status', status: 503 },
  });
}

/** What the operator's own list shows: dead messages on the chain, stuck runs on the others. */
async function deadLetters(world: World, transport: OpenTransport): Promise<number> {
  const answer = await world.pipeline.deadLetters.list();
  if (answer.kind === 'dead-letters') return answer.deadLetters.length;
  return (await transport.counts(CHAIN_QUEUE)).dead;
}

async function charges({ partners, name }: World): Promise<number> {
  return (await partners.counts({ buyerId: name })).charge;
}

/** The button that each implementation has. On the queue the transport's own is tried first: it does nothing. */
async function putBack(
  { say }: Stage,
  world: World,
  transport: OpenTransport,
  ids: readonly OrderId[],
): Promise<void> {
  if (world.implementation === 'chain') {
    await say(`redrive: ${await transport.redrive(CHAIN_QUEUE)} messages`);
    return;
  }
  if (world.implementation === 'queue') {
    const moved = await transport.redrive(ORDERS_QUEUE);
    await until('the redriven messages are gone', async () => {
      const { available, inFlight, delayed } = await transport.counts(ORDERS_QUEUE);
      return available + inFlight + delayed === 0 ? true : undefined;
    });
    const stuck = await deadLetters(world, transport);
    await say(
      `redrive of ${moved} messages past the operator's page: ${stuck} runs are still stuck`,
    );
    if (stuck !== ids.length) throw new Error(`a redrive alone moved ${ids.length - stuck} runs`);
  }
  for (const id of ids) {
    const answer = await world.pipeline.deadLetters.replay(id, {
      by: 'lab',
      why: 'payments are up again',
    });
    if (answer.kind !== 'accepted') throw new Error(`replay of ${id.orderRef}: ${answer.kind}`);
  }
}
