import { businessKey, orderIdOf, type OrderId } from '../../../core/identity.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { countsOnce, until, untilThrough } from '../../observe/until.ts';
import { whereInWords } from '../../observe/words.ts';
import type { Figures, Outcome, Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

/** Long enough that the successor is seen at work before it is over, also on a slow machine. */
const LONG_SETTLE_MS = 4_000;
/** What the first worker asked for is answered, or that worker is dead, long before it gives up. */
const PATIENT = { partnerTimeoutMs: 30_000, attemptTimeoutMs: 60_000 };

interface Held {
  id: OrderId;
  faultId: string;
}

export interface Killed {
  outcomes: Outcome[];
  /** Orders the supplier has, by when it acted. */
  counted: Figures;
  recoveryMs: number;
  visibilityMs: number;
}

/** Kills the one worker while the supplier holds a request of three orders, and follows them to their ends. */
export async function killInMidRequest({ world: open, say }: Stage): Promise<Killed> {
  const world = await open({ policy: PATIENT });
  const hold = async (orderRef: string, kind: 'hang-before' | 'hang-after', settleMs?: number) => {
    const order = world.order(orderRef);
    const id = orderIdOf(order);
    const reference = businessKey(id);
    const fault: FaultSpec = {
      partner: 'supplier',
      operation: 'place',
      reference,
      times: 1,
      effect: { kind },
    };
    const faultId = await world.partners.setFault(fault);
    await world.pipeline.submit(order, { ...world.policy, ...(settleMs && { settleMs }) });
    return { id, faultId };
  };
  const before = await hold('PO-2026-0193', 'hang-before');
  const after = await hold('PO-2026-0194', 'hang-after');
  const late = await hold('PO-2026-0195', 'hang-before', LONG_SETTLE_MS);
  const all = [before, after, late];

  const worker = await world.startWorker();
  for (const { faultId } of all) await world.partners.waitUntilHeld({ faultId }, 60_000);
  const killedAt = performance.now();
  await worker.kill();
  await say(`worker ${worker.pid} killed; the supplier holds three of its requests, one acted on`);
  await say(`where is ${after.id.orderRef}? ${await whereInWords(world, after.id)}`);
  await world.startWorker();
  const [recoveryMs] = await Promise.all([
    untilThrough(world, after.id).then(() => performance.now() - killedAt),
    untilThrough(world, before.id),
    landLate(world, late).then(() => untilThrough(world, late.id)),
  ]);
  await say('all three are through with another worker');

  const counts = await Promise.all(
    all.map(({ id }) => countsOnce(world, id, ({ mail }) => mail > 0)),
  );
  const [ofBefore, ofAfter, ofLate] = counts.map(({ order }) => order);
  await world.partners.release(before.faultId);
  const landed = await countsOnce(world, before.id, ({ order }) => order > 1);
  await say(`the first request of ${before.id.orderRef} lands after all: ${landed.order} orders`);
  return {
    outcomes: counts.map((each) => judgeEffects(each, ONCE)),
    counted: {
      'orders when the request never landed': ofBefore ?? 0,
      'landed before the kill': ofAfter ?? 0,
      'within the settle time': ofLate ?? 0,
      'after the settle time': landed.order,
    },
    recoveryMs,
    visibilityMs: world.policy.heartbeatMs,
  };
}

/** Lets the dead worker's request go when its successor has the order. */
async function landLate(world: World, { id, faultId }: Held): Promise<void> {
  await until(`${world.implementation}: ${id.orderRef} has a second worker`, async () => {
    const answer = await world.pipeline.where(id);
    if (answer.kind === 'cannot') {
      // The chain can't be asked; there it is the second order itself that shows.
      const { order } = await world.partners.counts(businessKey(id));
      return order > 0 ? true : undefined;
    }
    if (answer.kind === 'not-found') return undefined;
    const { attempts, nextAttemptAt } = answer.position;
    return attempts > 1 || nextAttemptAt !== undefined ? true : undefined;
  });
  await world.partners.release(faultId);
}
