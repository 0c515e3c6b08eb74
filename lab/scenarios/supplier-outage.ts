import { businessKey, orderIdOf, type OrderId } from '../../core/identity.ts';
import { defaultPolicy } from '../../core/policy.ts';
import { judgeEffects, ONCE, type Counts } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { countsOnce } from '../observe/until.ts';
import type { Outcome, Scenario } from '../scenario.ts';
import { openOutage } from './supplier-outage/outage.ts';

const MINUTE_MS = 60_000;
const OUTAGE_MINUTES = 180;
/** What the polite half of the suppliers ask for. Ten attempts at this distance last longer than the outage. */
const RETRY_AFTER_MINUTES = 24;
/** Orders at a supplier who says when to come back, and at one who says nothing. */
const SIZES = { small: { told: 3, untold: 1 }, full: { told: 50, untold: 10 } };

const IN_VAIN = 'dead-lettered though told when to come back';

export const supplierOutage: Scenario = {
  name: 'supplier-outage',
  claim:
    'three hours without the supplier cost attempts, no order, and no person where the supplier says when to come back',
  about:
    "a queue absorbs a supplier's three-hour outage by growing; a retry budget that is used up needs an operator",
  fault:
    `the supplier answers 503 for ${OUTAGE_MINUTES} virtual minutes, to most orders with ` +
    `"Retry-After: ${RETRY_AFTER_MINUTES * 60}", to some with nothing; the policy is the shared one: ten attempts`,
  counts:
    'requests the supplier refused, orders that stopped before a person, orders placed in the end',
  code: {
    chain: ['queue/chain/handle.ts'],
    queue: ['core/backoff.ts', 'queue/runs/failing.ts', 'queue/dead-letters/operate.ts'],
    temporal: ['core/backoff.ts', 'activities/failures.ts', 'workflows/operator.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: IN_VAIN },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  async run(stage) {
    const { retryInitialMs, retryMaxMs } = defaultPolicy;
    const world = await stage.world({ policy: { retryInitialMs, retryMaxMs } });
    const { told: many, untold: few } = SIZES[stage.size];
    const named = (what: string, n: number) =>
      Array.from({ length: n }, (_, at) => world.order(`PO-${what}-${at + 1}`));
    const told = named('TOLD', many);
    const untold = named('UNTOLD', few);
    const ids = [...told, ...untold].map(orderIdOf);
    const outage = await openOutage(stage, world, ids);
    const retryAfter = RETRY_AFTER_MINUTES * 60;
    for (const order of told) await outage.refuse(orderIdOf(order), { retryAfter });
    for (const order of untold) await outage.refuse(orderIdOf(order), {});

    await world.startWorker();
    for (const order of [...told, ...untold]) await world.pipeline.submit(order, world.policy);
    await outage.untilAllRefused();
    await stage.say(`the supplier is away; ${await outage.inWords()}`);
    await outage.pass(OUTAGE_MINUTES * MINUTE_MS);
    const refusals = await outage.refusals();
    const stopped = await outage.stopped();
    await stage.say(`three hours later: ${await outage.inWords()}`);
    await outage.end();
    // Whoever was told to come back has come back by then.
    await outage.pass((RETRY_AFTER_MINUTES + 2) * MINUTE_MS);
    await stage.say(`the supplier is back: ${await outage.inWords()}`);
    const replayed = await outage.letAnOperatorReplay();
    await stage.say(`an operator has put back ${replayed}, and all orders are through`);

    const outcomes: Outcome[] = [];
    for (const id of ids) outcomes.push(judgeEffects(await countsOnce(world, id, mailed), ONCE));
    const inVain = told.filter(({ orderRef }) => stopped.includes(orderRef)).length;
    if (inVain > 0) outcomes.push({ verdict: 'broke', how: IN_VAIN, counted: {} });
    return together(
      outcomes,
      { orders: ids.length, 'put back by an operator': replayed },
      // Jitter on top of what the supplier asked for decides about one more or less.
      {
        'refusals each, told': each(refusals, told.map(orderIdOf)),
        'not told': each(refusals, untold.map(orderIdOf)),
      },
    );
  },
  seconds: 15,
};

/** What is the same for all of them; all different values otherwise. */
function each(refusals: Map<string, number>, ids: readonly OrderId[]): string {
  const values = ids.map((id) => refusals.get(businessKey(id)) ?? 0);
  return [...new Set(values)].sort((a, b) => a - b).join(' or ');
}

const mailed = ({ mail }: Counts) => mail > 0;
