import { setTimeout as sleep } from 'node:timers/promises';
import { businessKey, orderIdOf } from '../../../core/identity.ts';
import type { Order } from '../../../core/order/schema.ts';
import { judgeStep } from '../../../replay/rules/judge.ts';
import { labelOf } from '../../../replay/rules/rule.ts';
import { rules } from '../../../replay/rules/rules.ts';
import { openMessages, untilQuiet } from '../../observe/messages.ts';
import { NOBODY_DIES } from '../ambiguous-charge/unhurried.ts';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';
import { loseAnswers, twoLines, wrongEffects } from './order.ts';
import { patchesOf, type Seen } from './seen.ts';

const DAY_MS = 86_400_000;

/** Retries only when the scenario moves the order's clock. */
const POLICY = { ...NOBODY_DIES.policy, retryInitialMs: DAY_MS, retryMaxMs: DAY_MS };

/** The edits that a link is tried with: each under a message that stands at it, and under a new order. */
export async function tryLinks(stage: Stage): Promise<Seen> {
  const world = await stage.world({ ...NOBODY_DIES, policy: POLICY });
  const tried = rules.flatMap((rule) => {
    const orders = [1, 2].map((n) => twoLines(world, `${labelOf(rule)}-${n}`));
    const [inFlight, fresh] = orders;
    return rule.chain && inFlight && fresh
      ? [{ rule, edits: rule.chain.edits, inFlight, fresh }]
      : [];
  });
  const transport = await openMessages(stage, world);
  await world.partners.setFault({ operation: 'enquire', effect: { kind: 'drop-after' } });
  for (const { inFlight } of tried) await world.pipeline.submit(inFlight, world.policy);
  const worker = await world.startWorker();
  await untilQuiet(transport, world);
  await worker.stop();
  await world.partners.clearFault();
  await stage.say(`${tried.length} messages stand at the credit step, the answers were lost`);
  const seen = new Map<string, ReturnType<typeof judgeStep>>();
  for (const { rule, edits, inFlight, fresh } of tried) {
    await loseAnswers(world, fresh, ['enquire', 'charge']);
    await world.pipeline.submit(fresh, world.policy);
    const changed = await world.startWorker(patchesOf(edits));
    const found = {
      inFlight: await problemOf(stage, world, inFlight),
      fresh: await problemOf(stage, world, fresh),
    };
    seen.set(rule.name, judgeStep({ prepared: { lint: [] }, ...found }));
    await changed.stop();
    await stage.say(`${rule.name}: tried`);
  }
  return seen;
}

/** What is wrong with an order whose mail is out, which is all that says that a chain has ended. */
async function problemOf(
  { signal }: Stage,
  world: World,
  order: Order,
): Promise<string | undefined> {
  const id = orderIdOf(order);
  while ((await world.partners.counts(businessKey(id))).mail === 0) {
    await world.forward(id, 2 * DAY_MS);
    await sleep(200, undefined, { signal });
  }
  return wrongEffects(world, order);
}
