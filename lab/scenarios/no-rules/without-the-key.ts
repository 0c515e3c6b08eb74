import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { untilThrough } from '../../observe/until.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { NOBODY_DIES } from '../ambiguous-charge/unhurried.ts';
import { loseAnswers, twoLines } from './order.ts';

/** One order of the scenario, with unchanged steps that lack what they owe their engine. */
export async function withoutTheKey(stage: Stage): Promise<Outcome> {
  const world = await stage.world(NOBODY_DIES);
  const order = twoLines(world, 'PO-1');
  await loseAnswers(world, order, ['charge']);
  await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  await untilThrough(world, orderIdOf(order));
  return judgeEffects(await world.partners.counts(businessKey(orderIdOf(order))), ONCE);
}
