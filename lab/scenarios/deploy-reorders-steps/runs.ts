import { businessKey, orderIdOf, type OrderId } from '../../../core/identity.ts';
import { judgeEffects, ONCE, UNSCREENED } from '../../observe/effects.ts';
import { together } from '../../observe/together.ts';
import { countsOnce, untilPosition, untilThrough } from '../../observe/until.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { DEAR } from '../../world/order.ts';
import { makeCurrent } from '../../world/versions.ts';
import type { WorkerHandle, World } from '../../world/world.ts';

const BEFORE = 'replay/stages/before/index.ts';
const WITHOUT_PATCH = 'replay/stages/removed/index.ts';

/** Two orders from before the deploy, one that waits for a person and one that a partner keeps waiting. */
interface InFlight {
  world: World;
  old: WorkerHandle;
  waiting: OrderId;
  busy: OrderId;
  letGo: () => Promise<void>;
}

export async function runsThroughDeploy(stage: Stage): Promise<Outcome> {
  const { world, old, waiting, busy, letGo } = await inFlight(stage);
  await old.stop();
  await world.startWorker();
  await deployed(world, '2');
  const [plain, dear] = [world.order('PO-NEW'), world.order('PO-NEW-DEAR', { lines: DEAR })];
  for (const order of [plain, dear]) await world.pipeline.submit(order, world.policy);
  await stage.say('the old worker is gone; the new one has those two and two more');
  await letGo();
  for (const id of [waiting, orderIdOf(dear)]) await approve(world, id);
  const began = { before: [waiting, busy], after: [orderIdOf(plain), orderIdOf(dear)] };
  const outcomes = [
    ...(await judged(world, began.before, UNSCREENED)),
    ...(await judged(world, began.after, ONCE)),
  ];
  return together(outcomes, {
    'in flight': `${began.before.length}, each step once in the old order`,
    'after the deploy': `${began.after.length}, screened`,
  });
}

/** The new order of steps alone, where runs of the old one are open. */
export async function stallsAfterDeploy(stage: Stage): Promise<Outcome> {
  const { world, old, busy, letGo } = await inFlight(stage);
  await old.kill();
  await world.startWorker({ Q2T_BUNDLE: await world.bundleOf(WITHOUT_PATCH) });
  await letGo();
  const { stalled } = await untilPosition(world, busy, ({ status }) => status === 'stuck');
  if (!stalled) throw new Error('stuck, and not for want of code');
  await stage.say(`stuck: ${stalled.reason}`);
  return { verdict: 'broke', how: 'stalls', counted: {} };
}

async function inFlight({ world: open, say }: Stage): Promise<InFlight> {
  const world = await open();
  const busy = world.order('PO-BUSY');
  const waiting = world.order('PO-WAITING', { lines: DEAR });
  const [busyId, waitingId] = [orderIdOf(busy), orderIdOf(waiting)];
  const faultId = await world.partners.setFault({
    partner: 'warehouse',
    operation: 'reserve',
    reference: businessKey(busyId),
    effect: { kind: 'status', status: 503 },
  });
  const old = await world.startWorker(await oldDeploy(world));
  await deployed(world, '1');
  for (const order of [busy, waiting]) {
    await world.pipeline.submit(order, { ...world.policy, maxAttempts: 10_000 });
  }
  await untilPosition(world, waitingId, ({ status }) => status === 'waiting');
  await untilPosition(world, busyId, ({ step }) => step === 'reserve');
  await say('of the old version: one waits for a person, one for the warehouse; now the deploy');
  const letGo = async () => {
    await world.partners.clearFault(faultId);
  };
  return { world, old, waiting: waitingId, busy: busyId, letGo };
}

/** What the worker before the deploy ran. */
async function oldDeploy(world: World): Promise<NodeJS.ProcessEnv> {
  if (world.implementation === 'temporal') return { Q2T_BUNDLE: await world.bundleOf(BEFORE) };
  // Whatever guard this world lacks: it had it then.
  return { Q2T_VERSIONS: '1', Q2T_LAB_PATCHES: '[]' };
}

/** On the queue, the version that new runs begin with is set; on Temporal it is the worker's code. */
async function deployed(world: World, version: string): Promise<void> {
  if (world.implementation === 'queue') await makeCurrent(world, version);
}

async function approve(world: World, id: OrderId): Promise<void> {
  const { waitingFor } = await untilPosition(
    world,
    id,
    (position) => position.waitingFor?.kind === 'person',
  );
  const gateVersion = waitingFor?.kind === 'person' ? waitingFor.gateVersion : 1;
  const yes = { gate: 'approval', gateVersion, decision: 'approve', by: 'ann' } as const;
  const { kind } = await world.pipeline.decide(id, yes);
  if (kind !== 'accepted') throw new Error(`the approval of ${id.orderRef}: ${kind}`);
}

function judged(
  world: World,
  ids: readonly OrderId[],
  expected: Parameters<typeof judgeEffects>[1],
): Promise<Outcome[]> {
  return Promise.all(
    ids.map(async (id) => {
      await untilThrough(world, id);
      return judgeEffects(await countsOnce(world, id, ({ mail }) => mail > 0), expected);
    }),
  );
}
