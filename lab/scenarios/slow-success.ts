import { businessKey, orderIdOf } from '../../core/identity.ts';
import { extension, heartbeat } from '../guards/extension.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { countsOnce, LIMIT_MS, untilThrough } from '../observe/until.ts';
import { seconds, whereInWords } from '../observe/words.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';

/** Three times the visibility timeout, the lease and the heartbeat timeout of the lab. */
const SLOW_MS = 6_000;

interface Slowness {
  /** How long the supplier works on the order, unless somebody else has placed it before. */
  slowMs: number;
  settleMs: number;
}

export const slowSuccess: Scenario = {
  name: 'slow-success',
  claim: 'a step that succeeds later than the visibility timeout is still done once',
  about:
    'the timeout must be longer than the slowest success, or the consumer extends it as it works',
  fault:
    'the supplier works on the order for three times the visibility timeout, then places it; ' +
    'nobody dies and nothing fails',
  counts: 'orders the supplier has',
  code: {
    chain: ['queue/worker/consume.ts', 'workers/chain.ts'],
    queue: ['queue/runs/keep-alive.ts', 'queue/runs/walk.ts', 'queue/transport/extend.ts'],
    temporal: ['activities/attempt.ts', 'workflows/activities.ts'],
  },
  expected: {
    // Both deliveries go on to the end: the ack of the first one is stale, and nobody asks.
    chain: { verdict: 'broke', how: 'placed twice, mailed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  seconds: 15,
  // The settle time is longer than the fault: a worker that merely starves is taken for dead, and its
  // successor finds the order. The claim is about the extension, not about the machine.
  run: (stage) => placeSlowly(stage, { slowMs: slowFor(stage), settleMs: 8_000 }),
  // There the successor must not outwait the first one, or the settle time would hide what is missing.
  controls: [
    { on: 'queue', without: extension, breaks: 'placed twice', run: withoutBeats },
    { on: 'temporal', without: heartbeat, breaks: 'placed twice', run: withoutBeats },
  ],
};

/** Where the second delivery is bound to come, it is waited for, however slow the machine. */
function slowFor({ implementation }: Stage): number {
  return implementation === 'chain' ? LIMIT_MS : SLOW_MS;
}

function withoutBeats(stage: Stage): Promise<Outcome> {
  return placeSlowly(stage, { slowMs: LIMIT_MS, settleMs: 300 });
}

async function placeSlowly(
  { world: open, say }: Stage,
  { slowMs, settleMs }: Slowness,
): Promise<Outcome> {
  const patient = { partnerTimeoutMs: 2 * LIMIT_MS, attemptTimeoutMs: 3 * LIMIT_MS };
  const world = await open({ policy: { ...patient, settleMs } });
  const order = world.order('PO-2026-0193');
  const id = orderIdOf(order);
  const place = { operation: 'place', reference: businessKey(id) } as const;
  await world.partners.setFault({ ...place, times: 1, effect: { kind: 'hang-before' } });
  await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  await world.partners.waitUntilHeld(place, LIMIT_MS);
  const began = performance.now();
  const timeout = seconds(world.policy.heartbeatMs);
  await say(`the supplier works on ${id.orderRef}; who is silent for ${timeout} counts as lost`);
  const { order: earlier } = await countsOnce(world, id, (counts) => counts.order > 0, slowMs);
  await say(
    earlier > 0
      ? 'the message came back and another pair of hands has placed the order'
      : `three timeouts later nobody else has it: ${await whereInWords(world, id)}`,
  );
  const slow = seconds(performance.now() - began);
  await world.partners.clearFault();
  await untilThrough(world, id);
  const orders = earlier + 1;
  // On the chain each of them goes on to a mail of its own.
  const mails = world.implementation === 'chain' ? orders : 1;
  const counts = await countsOnce(world, id, (now) => now.order >= orders && now.mail >= mails);
  await say(`orders at the supplier: ${counts.order}; mails: ${counts.mail}`);
  return judgeEffects(counts, ONCE, { slow });
}
