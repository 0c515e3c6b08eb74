import { orderIdOf } from '../../core/identity.ts';
import { orderShare } from '../guards/share.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { until, untilThrough } from '../observe/until.ts';
import { seconds, whereInWords } from '../observe/words.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';

const SIZES = { small: { lines: 200, orders: 10 }, full: { lines: 2_000, orders: 50 } };
const WAITED = 'small orders waited for the elephant';
const SKU = 'ELEPHANT-1';
/** Lines that one worker of the queue prices at once: twice what one order may have of them. */
const HANDS = 16;
/** Nobody may lose patience with the supplier, nor take its worker for dead, while the elephant stands still. */
const LONG_MS = 300_000;
const PATIENCE = { partnerTimeoutMs: LONG_MS, attemptTimeoutMs: LONG_MS, heartbeatMs: LONG_MS };

export const elephant: Scenario = {
  name: 'elephant',
  claim: 'one huge order does not make the small ones behind it wait until it is done',
  about:
    'work of one shape must not hold up what stands behind it: a share for each, not first come first served',
  fault:
    'an order of 200 lines (2,000 in the large size) comes first; half-way through its prices the supplier ' +
    'stops answering about it, and only then one-line orders come, ten or fifty',
  counts: 'one-line orders that are through while the large one is not',
  code: {
    chain: ['queue/chain/steps.ts', 'queue/worker/consume.ts'],
    queue: [
      'queue/joins/start-join.ts',
      'queue/joins/finish-child.ts',
      'queue/steps/price-here.ts',
    ],
    temporal: ['workflows/each-of.ts', 'workflows/price.ts', 'workers/order-workers.ts'],
  },
  expected: {
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: race,
  controls: [{ on: 'queue', without: orderShare, breaks: WAITED }],
  limitMs: { small: LONG_MS },
  seconds: 15,
};

async function race({ world: open, size, say }: Stage): Promise<Outcome> {
  const world = await open({ policy: PATIENCE, workerEnv: { Q2T_LINES: String(HANDS) } });
  const { partners, pipeline, policy } = world;
  const { lines, orders } = SIZES[size];
  await world.startWorker();

  // Whole rounds of what an order may have priced at once: the chain waits for the end of each.
  const skip = Math.floor(lines / 2 / policy.fanOut) * policy.fanOut;
  await partners.setFault({
    partner: 'supplier',
    operation: 'quote',
    sku: SKU,
    skip,
    effect: { kind: 'hang-before' },
  });
  const large = world.order('PO-ELEPHANT', { lines: manyLines(lines) });
  await pipeline.submit(large, policy);
  const standsStill = async () => (await partners.held()).length >= policy.fanOut || undefined;
  await until('the elephant stands still', standsStill, LONG_MS);
  await say(`${skip} of its ${lines} lines priced: ${await whereInWords(world, orderIdOf(large))}`);
  const began = performance.now();
  await submitSmall(world, orders);
  const through = await untilThroughOrBlocked(world, orders);
  const waitedMs = performance.now() - began;
  await say(`${through} of ${orders} small orders are through, the elephant stands where it stood`);
  await partners.clearFault();
  await untilThrough(world, orderIdOf(large), LONG_MS);
  await until(
    'all orders through',
    async () => (await mails(world)) > orders || undefined,
    LONG_MS,
  );

  if (through < orders) {
    return { verdict: 'broke', how: WAITED, counted: { lines, waited: orders - through } };
  }
  const all = Object.fromEntries(Object.keys(ONCE).map((kind) => [kind, orders + 1]));
  const judged = judgeEffects(await partners.counts({ buyerId: world.name }), all);
  const counted = { lines, orders, 'through before the elephant': through };
  const measured = { 'all of them through in': seconds(waitedMs) };
  return judged.verdict === 'held' ? { verdict: 'held', counted, measured } : judged;
}

async function submitSmall(world: World, count: number): Promise<void> {
  const { pipeline, policy } = world;
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  await Promise.all(numbers.map((at) => pipeline.submit(world.order(`PO-SMALL-${at}`), policy)));
}

/** How many are through before the elephant: all of them, or those that made it until it had every hand. */
async function untilThroughOrBlocked(world: World, orders: number): Promise<number> {
  const blocked = async () => (await world.partners.held()).length >= HANDS;
  return until(
    'the small orders through, or every hand at the elephant',
    async () => {
      const through = await mails(world);
      return through >= orders || (await blocked()) ? through : undefined;
    },
    LONG_MS,
  );
}

async function mails({ partners, name }: World): Promise<number> {
  return (await partners.counts({ buyerId: name, kind: 'mail' })).mail;
}

/** Cheap ones: an order above the approval limit would wait for a person. */
function manyLines(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    lineId: String(at + 1),
    sku: SKU,
    name: 'One hair of an elephant',
    quantity: '1',
    unit: 'C62',
    unitPrice: '1.00',
  }));
}
