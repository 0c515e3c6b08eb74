import { businessKey, orderIdOf } from '../../../core/identity.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { countsOnce, untilThrough } from '../../observe/until.ts';
import { whereInWords } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { NOBODY_DIES } from './unhurried.ts';

/** One order; the partner acts on its first request of this kind and closes the connection without an answer. */
export async function loseTheAnswer(
  { world: open, say }: Stage,
  { partner, operation }: Required<Pick<FaultSpec, 'partner' | 'operation'>>,
): Promise<Outcome> {
  const world = await open(NOBODY_DIES);
  const order = world.order('PO-2026-0193');
  const id = orderIdOf(order);
  const reference = businessKey(id);
  await world.partners.setFault({
    partner,
    operation,
    reference,
    times: 1,
    effect: { kind: 'drop-after' },
  });
  await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  await untilThrough(world, id);
  await say(`${partner} acted and closed the connection; ${whereToLook(operation)}`);
  await say(`where is ${id.orderRef}? ${await whereInWords(world, id)}`);
  const counts = await countsOnce(world, id, ({ mail }) => mail > 0);
  const [fault] = await world.partners.faults();
  await say(`${partner} counted ${fault?.seen ?? 0} requests to ${operation}`);
  return judgeEffects(counts, ONCE, { requests: fault?.seen ?? 0 });
}

function whereToLook(operation: string): string {
  return `whoever sent "${operation}" knows neither that it was done nor that it was not`;
}
