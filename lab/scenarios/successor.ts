import { businessKey, orderIdOf, type OrderId } from '../../core/identity.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { countsOnce, until, untilThrough } from '../observe/until.ts';
import { whereInWords } from '../observe/words.ts';
import type { Scenario } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { judgeCharge, linesWithoutPrices } from './successor/amount.ts';
import { judgePrices, watchQuotes } from './successor/quotes.ts';

const LINES = { small: 16, full: 240 } as const;

export const successor: Scenario = {
  name: 'successor',
  claim: 'a worker that never saw an order goes on where the last one was, knowing what it knew',
  about:
    'a position is the place in the program and the local state that led there; a message is only ' +
    'the last boundary that somebody remembered to publish',
  fault:
    'SIGKILL when all prices of an order are known but one, and of the next worker while the charge ' +
    'is made: three processes with empty caches, one order',
  counts:
    'known prices that the supplier is asked for again, the amount charged against the prices, most ' +
    'of which only the first worker saw, and every effect',
  code: {
    chain: ['queue/chain/steps.ts'],
    queue: ['queue/steps/price.ts', 'queue/joins/finish-child.ts', 'queue/runs/take.ts'],
    temporal: ['workflows/price.ts', 'workflows/purchase-order.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'asked every price again' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  seconds: 20,
  async run({ world: open, say, size }) {
    const world = await open({
      policy: {
        partnerTimeoutMs: 30_000,
        attemptTimeoutMs: 60_000,
        // Whatever the catalogue's prices come to: no person is asked.
        approvalLimits: { EUR: '1000000000' },
      },
    });
    const lines = linesWithoutPrices(LINES[size]);
    const order = world.order('PO-2026-0193', { lines });
    const id = orderIdOf(order);
    const known = lines.length - 1;
    const quotes = await watchQuotes(world, lines);
    await world.partners.setFault({
      partner: 'payments',
      operation: 'charge',
      times: 1,
      effect: { kind: 'hang-after' },
    });

    const first = await world.startWorker();
    await world.pipeline.submit(order, world.policy);
    await quotes.untilLastIsHeld();
    await untilKnown(world, id, known);
    await first.kill();
    await say(`worker ${first.pid} killed with ${known} of ${lines.length} prices known`);
    await say(`where is ${id.orderRef}? ${await whereInWords(world, id)}`);

    const second = await world.startWorker();
    await world.partners.waitUntilHeld({ operation: 'charge', reference: businessKey(id) }, 60_000);
    await second.kill();
    const again = await quotes.knownAskedAgain();
    await say(`worker ${second.pid} asked again for ${again} of them, charged, and was killed too`);
    await world.startWorker();
    await untilThrough(world, id);

    const counts = await countsOnce(world, id, ({ mail }) => mail > 0);
    const { charged, outcome } = await judgeCharge(world, order);
    await say(`through with a third worker, ${charged} charged`);
    const outcomes = [judgePrices(again, known), outcome, judgeEffects(counts, ONCE)];
    const held = again === 0;
    return together(
      outcomes,
      { charged, ...(held && { 'known prices asked again': `0 of ${known}` }) },
      held ? {} : { 'known prices asked again': `${again} of ${known}` },
    );
  },
};

/** Waits until so many prices are kept, where the implementation can say so; on the chain nothing is, within a step. */
async function untilKnown(world: World, id: OrderId, known: number): Promise<void> {
  await until(`${world.implementation}: ${known} prices known`, async () => {
    const answer = await world.pipeline.where(id);
    if (answer.kind === 'cannot') return true;
    const progress = answer.kind === 'position' ? answer.position.progress : undefined;
    return progress?.startsWith(`${known} of `) ? true : undefined;
  });
}
