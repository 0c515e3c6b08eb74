import { judgeEffects, ONCE, UNSCREENED } from '../../observe/effects.ts';
import { together } from '../../observe/together.ts';
import { countsOnce, untilThrough } from '../../observe/until.ts';
import { seconds } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { makeCurrent } from '../../world/versions.ts';
import { foundStuck } from './found.ts';
import { heldBefore, PATIENT } from './held.ts';

const AT_PLACE = { partner: 'supplier', operation: 'place' } as const;

/** The workers that run have only one of the two versions that are under way, first the newer, then the older. */
export async function queueWithoutItsVersion(stage: Stage): Promise<Outcome> {
  const world = await stage.world({ policy: PATIENT });
  const old = await world.startWorker({ Q2T_VERSIONS: '1' });
  await makeCurrent(world, '1');
  const first = await heldBefore(world, 'PO-VERSION-1', AT_PLACE);
  await old.stop();
  const fresh = await world.startWorker({ Q2T_VERSIONS: '2' });
  await makeCurrent(world, '2');
  const second = await heldBefore(world, 'PO-VERSION-2', AT_PLACE);
  const found = await foundStuck(world, [first.id]);
  await stage.say(`stuck: ${found.reason}`);

  await fresh.stop();
  await first.letGo();
  const began = performance.now();
  const back = await world.startWorker({ Q2T_VERSIONS: '1' });
  await untilThrough(world, first.id);
  const ms = performance.now() - began;
  await stage.say('rolled back, the first goes on; what began on version 2 is stuck instead');
  const other = await foundStuck(world, [second.id]);
  await second.letGo();
  await back.stop();
  await world.startWorker();
  await untilThrough(world, second.id);
  await stage.say('a worker that has both carries that one too');

  const outcomes = [];
  for (const [{ id }, expected] of [
    [first, UNSCREENED],
    [second, ONCE],
  ] as const) {
    outcomes.push(judgeEffects(await countsOnce(world, id, ({ mail }) => mail > 0), expected));
  }
  return together(
    outcomes,
    { 'stuck and found': found.listed + other.listed },
    {
      'until found': seconds(Math.max(found.ms, other.ms)),
      'rolled back, through in': seconds(ms),
    },
  );
}
