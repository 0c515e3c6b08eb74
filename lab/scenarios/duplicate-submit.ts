import type { Pipeline, SubmitResult } from '../../core/contract.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { countsOnce, LIMIT_MS, untilThrough } from '../observe/until.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { openSide } from '../world/sides.ts';
import type { World } from '../world/world.ts';
import { NOBODY_DIES } from './ambiguous-charge/unhurried.ts';

export const duplicateSubmit: Scenario = {
  name: 'duplicate-submit',
  claim: 'an order that comes in again is answered and not begun again, whenever it comes',
  about: 'the key is that of the event, and the place where it is kept outlives the first attempt',
  fault:
    'two clients send the same order: at once, while it runs, after its success, after its failure; ' +
    'and once another order under the same reference',
  counts: 'what the clients are told; effects of all these submits together',
  code: {
    chain: ['queue/chain/open.ts'],
    queue: ['queue/runs/submit.ts', 'queue/migrations/0100-runs.sql'],
    temporal: ['client/pipelines/temporal/submit.ts'],
  },
  expected: {
    // Keys of the partners that take some hold; each submit is a chain of its own all the same.
    chain: { verdict: 'broke', how: 'placed 4 times, mailed 4 times' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: submitAgain,
};

async function submitAgain({ world: open, say, cleanUp }: Stage): Promise<Outcome> {
  const world = await open(NOBODY_DIES);
  const other = await secondClient(world, cleanUp);
  const order = world.order('PO-2026-0193');
  const id = orderIdOf(order);
  const place = { operation: 'place', reference: businessKey(id) } as const;
  const chained = world.implementation === 'chain';
  await world.partners.setFault({ ...place, effect: { kind: 'hang-before' } });
  await world.startWorker();

  const atOnce = await Promise.all(
    [world.pipeline, other].map((client) => client.submit(order, world.policy)),
  );
  await world.partners.waitUntilHeld(place, LIMIT_MS);
  await say(`both clients at once: ${inWords(atOnce)}`);
  const during = await other.submit(order, world.policy);
  const changed = await other.submit(otherContent(order), world.policy);
  await say(`while it runs: ${inWords([during])}; with other content: ${inWords([changed])}`);
  await world.partners.clearFault();
  await untilThrough(world, id);
  if (chained) await countsOnce(world, id, ({ mail }) => mail >= 3);
  const afterwards = await other.submit(order, world.policy);
  await say(`after its success: ${inWords([afterwards])}`);

  const refused = { ...world.order('PO-2026-0194'), buyer: refusedBuyer(world) };
  const refusedId = orderIdOf(refused);
  const first = await world.pipeline.submit(refused, world.policy);
  await (chained
    ? countsOnce(world, refusedId, ({ enquiry }) => enquiry > 0)
    : untilThrough(world, refusedId));
  const again = await other.submit(refused, world.policy);
  await say(`after a failure: ${inWords([again])}`);

  const counts = await countsOnce(world, id, ({ mail }) => mail >= (chained ? 4 : 1));
  const ofRefused = await countsOnce(world, refusedId, ({ enquiry }) => enquiry > 0);
  const told = inWords([...atOnce, during, changed, afterwards, first, again]);
  await say(`orders of ${id.orderRef} at the supplier: ${counts.order}`);
  const outcome = together([judgeEffects(counts, ONCE), judgeEffects(ofRefused, { enquiry: 1 })], {
    submits: 7,
    orders: counts.order,
  });
  if (outcome.verdict !== 'held' || told === TOLD) return outcome;
  return { verdict: 'broke', how: `the clients were told: ${told}`, counted: {} };
}

const TOLD =
  'started, already-running, already-running, conflict, already-finished (completed), ' +
  'started, already-finished (refused)';

/** Which of two submits at the same moment is the first is left to chance: `started` is named first. */
function inWords(answers: readonly SubmitResult[]): string {
  const words = answers.map((answer) =>
    answer.kind === 'already-finished'
      ? `${answer.kind} (${answer.outcome ?? 'unknown'})`
      : answer.kind,
  );
  const [one, two, ...rest] = words;
  return [...[one, two].sort().reverse(), ...rest].filter(Boolean).join(', ');
}

function otherContent(order: Order): Order {
  return { ...order, lines: order.lines.map((line) => ({ ...line, quantity: '7' })) };
}

function refusedBuyer({ name }: World): Order['buyer'] {
  return { id: `refused-${name}`, name: 'Lab', email: 'lab@example.org' };
}

/** A client with connections of its own, as another process has them. */
async function secondClient(world: World, cleanUp: Stage['cleanUp']): Promise<Pipeline> {
  const { temporal, name: taskQueue, databaseUrl, implementation } = world;
  const side = await openSide(implementation, { ...temporal, taskQueue, databaseUrl });
  cleanUp(() => side.close());
  return side.pipeline;
}
