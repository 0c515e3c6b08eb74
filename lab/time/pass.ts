import type { OrderId } from '../../core/identity.ts';
import { untilQuiet } from '../observe/messages.ts';
import { until } from '../observe/until.ts';
import type { OpenTransport } from '../../queue/transport/open.ts';
import type { World } from '../world/world.ts';

/**
 * How far the clocks of a queue's runs are moved at once. What has become due in between is worked on
 * at the end of such a slice: a shifted row knows of no "in between", as the engine's clock does.
 */
const SLICE_MS = 5 * 60_000;

/**
 * Lets `ms` pass for all these orders and for the partners, in step, so that what they would have
 * tried in that time is tried. An engine has each of its clocks run through at once; on the queue and the chain the
 * workers are given the time to do what is due, slice by slice. Needs a live worker.
 */
export async function passTime(
  world: World,
  transport: OpenTransport,
  ids: readonly OrderId[],
  ms: number,
): Promise<void> {
  if (world.implementation === 'temporal') {
    await Promise.all(ids.map((id) => forwardOpen(world, id, ms)));
    await world.partners.advanceClock(ms);
    return;
  }
  for (let left = ms; left > 0; left -= SLICE_MS) {
    const slice = Math.min(left, SLICE_MS);
    await world.partners.advanceClock(slice);
    await Promise.all(ids.map((id) => world.forward(id, slice)));
    await untilQuiet(transport, world);
    if (world.implementation === 'queue') await untilNothingDue(world, ids);
  }
}

/** A wait longer than 15 minutes is a timer there, not a message: only `where` shows that it is over. */
async function untilNothingDue(world: World, ids: readonly OrderId[]): Promise<void> {
  await until('every run that is due has been looked at', async () => {
    const answers = await Promise.all(ids.map((id) => world.pipeline.where(id)));
    const due = answers.some((answer) => {
      if (answer.kind !== 'position') return false;
      const { nextAttemptAt, waitingFor } = answer.position;
      const at = nextAttemptAt ?? (waitingFor?.kind === 'date' ? waitingFor.until : undefined);
      return at !== undefined && Date.parse(at) <= Date.now();
    });
    return due ? undefined : true;
  });
}

/** A run that has ended has no clock, and one that waits for an operator has nothing that could become due. */
async function forwardOpen(world: World, id: OrderId, ms: number): Promise<void> {
  const answer = await world.pipeline.where(id);
  if (answer.kind !== 'position') throw new Error(`${id.orderRef} is nowhere`);
  if (['ended', 'stuck'].includes(answer.position.status)) return;
  await world.forward(id, ms);
}
