import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { untilThrough } from '../../observe/until.ts';
import { whereInWords } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { judge, orderOfLines, SLOW_SKU, WAIT_MS } from './lines.ts';

/** Temporal: the start is sent twice; tasks of two lines and of the placing are handed out twice. */
export async function duplicateTasks(stage: Stage): Promise<Outcome> {
  const limitMs = WAIT_MS[stage.size];
  const world = await stage.world({
    // The attempt ends before the partner's answer comes: that is when a task is handed out again.
    policy: { attemptTimeoutMs: 5_000, partnerTimeoutMs: 2 * limitMs },
  });
  const order = orderOfLines(world, stage);
  const id = orderIdOf(order);
  const reference = businessKey(id);
  const slow = { operation: 'quote', sku: SLOW_SKU } as const;
  const place = { operation: 'place', reference } as const;
  await world.partners.setFault({ ...slow, times: 2, effect: { kind: 'hang-before' } });
  await world.partners.setFault({ ...place, times: 1, effect: { kind: 'hang-after' } });
  const worker = await world.startWorker();

  const started = await Promise.all([1, 2].map(() => world.pipeline.submit(order, world.policy)));
  const told = started.map(({ kind }) => kind).sort();
  await stage.say(`the start was sent twice: ${told.join(', ')}`);
  if (told.join() !== 'already-running,started') {
    return { verdict: 'broke', how: `the start was answered: ${told.join(', ')}`, counted: {} };
  }
  await world.partners.waitUntilHeld({ ...place, acted: true }, limitMs);
  await stage.say(
    `two lines were asked for again; now at the supplier: ${await whereInWords(world, id)}`,
  );
  await untilThrough(world, id, limitMs);
  const held = await world.partners.held();
  await stage.say(`through, while ${held.length} first requests have no answer yet`);
  await world.partners.clearFault();
  // It lets its activities end first: the late ones report to a run that is over.
  await worker.stop();
  await stage.say(`their answers came too late: ${await whereInWords(world, id)}`);
  return judge(world, order, await world.partners.counts(reference));
}
