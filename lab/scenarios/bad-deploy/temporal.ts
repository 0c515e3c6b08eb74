import type { OrderId } from '../../../core/identity.ts';
import { judgeEffects, ONCE, UNSCREENED } from '../../observe/effects.ts';
import { together } from '../../observe/together.ts';
import { countsOnce, untilThrough } from '../../observe/until.ts';
import { seconds } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import type { WorkerHandle, World } from '../../world/world.ts';
import { foundStuck } from './found.ts';
import { heldBefore, PATIENT, type HeldOrder } from './held.ts';

const GOOD = 'replay/stages/before/index.ts';
/** `screen`, and another order of the steps, without the patch that lets open runs keep theirs. */
const BAD = 'replay/stages/removed/index.ts';
const AT_PLACE = { partner: 'supplier', operation: 'place' } as const;
/** A worker that has just started on a busy machine answers too: the server keeps a task's first failure only. */
const UNHURRIED = { ...PATIENT, workflowTaskTimeoutMs: 10_000 };
const WHO = { by: 'lab', why: 'a bad deploy' };

/** Two worlds beside each other: in one the workers are rolled back, in the other they are not. */
export async function temporalStalls(stage: Stage): Promise<Outcome> {
  const [back, on] = await Promise.all([rolledBack(stage), forward(stage)]);
  return together(
    [back.outcome, ...on.outcomes],
    {
      'stuck and found': back.found.listed + on.listed,
      'steps done again by a reset': on.again.join(', '),
    },
    {
      'until found': seconds(Math.max(back.found.ms, on.foundMs)),
      'rolled back, through in': seconds(back.ms),
      'patched, through in': seconds(on.patchMs),
      'reset, through in': seconds(on.resetMs),
    },
  );
}

async function rolledBack(stage: Stage) {
  const world = await stage.world({ policy: UNHURRIED });
  const deploy = deployer(world);
  await deploy(await world.bundleOf(GOOD));
  const order = await heldBefore(world, 'PO-ROLL-BACK', AT_PLACE);
  await deploy(await world.bundleOf(BAD));
  await order.letGo();
  const found = await foundStuck(world, [order.id]);
  await stage.say(`stuck: ${found.reason}`);
  const began = performance.now();
  await deploy(await world.bundleOf(GOOD));
  await untilThrough(world, order.id);
  const ms = performance.now() - began;
  await stage.say('the workers are rolled back, and it goes on where it was');
  return { outcome: await judged(world, order.id, UNSCREENED), found, ms };
}

/** One is reset to go on with the bad code; the patch carries another; a third, begun on the bad code, is reset too. */
async function forward(stage: Stage) {
  const world = await stage.world({ policy: UNHURRIED });
  const deploy = deployer(world);
  await deploy(await world.bundleOf(GOOD));
  const old = await heldBefore(world, 'PO-RESET', AT_PLACE);
  const patched = await heldBefore(world, 'PO-PATCH', AT_PLACE);
  await deploy(await world.bundleOf(BAD));
  const begun = await heldBefore(world, 'PO-BEGAN-ON-IT', AT_PLACE);
  for (const { letGo } of [old, patched]) await letGo();
  const found = await foundStuck(world, [old.id, patched.id]);
  await stage.say(`stuck: ${found.reason}`);

  const reset = await resetThrough(stage, world, old);
  const began = performance.now();
  await deploy(undefined);
  await untilThrough(world, patched.id);
  const patchMs = performance.now() - began;
  await stage.say('with the patch the order from before goes on in its own order of steps');

  await begun.letGo();
  const other = await foundStuck(world, [begun.id]);
  await stage.say(`the one that began on the bad code is stuck now: ${other.reason}`);
  await resetThrough(stage, world, begun);
  const outcomes = [
    await judged(world, old.id, ONCE),
    await judged(world, patched.id, UNSCREENED),
    await judged(world, begun.id, ONCE),
  ];
  const foundMs = Math.max(found.ms, other.ms);
  const listed = found.listed + other.listed;
  return { outcomes, listed, foundMs, patchMs, resetMs: reset.ms, again: reset.again };
}

async function resetThrough({ say }: Stage, world: World, { id }: HeldOrder) {
  const began = performance.now();
  const answer = await world.pipeline.reset(id, WHO);
  if (answer.kind !== 'reset')
    throw new Error(`reset of ${id.orderRef}: ${JSON.stringify(answer)}`);
  await untilThrough(world, id);
  const { again, toEvent } = answer;
  await say(`${id.orderRef} reset to before event ${toEvent}; done again: ${again.join(', ')}`);
  return { again, ms: performance.now() - began };
}

/** Replaces the world's workers by one with the bundle; without one, the workflows as they are. */
function deployer(world: World): (bundle: string | undefined) => Promise<void> {
  let running: WorkerHandle | undefined;
  return async (bundle) => {
    await running?.stop();
    running = await world.startWorker(bundle === undefined ? {} : { Q2T_BUNDLE: bundle });
  };
}

async function judged(
  world: World,
  id: OrderId,
  expected: Parameters<typeof judgeEffects>[1],
): Promise<Outcome> {
  return judgeEffects(await countsOnce(world, id, ({ mail }) => mail > 0), expected);
}
