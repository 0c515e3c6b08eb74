import { businessKey, orderIdOf } from '../../../core/identity.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { together } from '../../observe/together.ts';
import { countsOnce, LIMIT_MS, untilThrough } from '../../observe/until.ts';
import { whereInWords } from '../../observe/words.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { killAt, openWire, POINTS, type Point } from './kill.ts';

/** The tables of the invoice's row. */
const TABLES = { queue: 'queue.invoice', temporal: 'app.invoice' } as const;

/** Orders of queue or temporal whose one worker is killed with each of them at another of these points. */
export async function ordersKilledAt(
  stage: Stage,
  implementation: keyof typeof TABLES,
  points: readonly Point[] = POINTS,
): Promise<Outcome> {
  const patient = { partnerTimeoutMs: 2 * LIMIT_MS, attemptTimeoutMs: 3 * LIMIT_MS };
  const world = await stage.world({ policy: patient });
  const orders = points.map((point, n) => ({
    point,
    order: world.order(`PO-2026-${String(193 + n).padStart(4, '0')}`),
  }));
  const references = orders.map(({ order }) => businessKey(orderIdOf(order)));
  const wire = await openWire(stage, world, references);
  const worker = await world.startWorker({ DATABASE_URL: wire.url(world.databaseUrl, 'victim') });

  // All wait at the supplier; one after the other goes on to its invoice, and stands there.
  const waiting = new Map<string, string>();
  for (const { order } of orders) {
    const place = { operation: 'place', reference: businessKey(orderIdOf(order)) } as const;
    const fault = { ...place, times: 1, effect: { kind: 'hang-before' } } as const;
    waiting.set(place.reference, await world.partners.setFault(fault));
    await world.pipeline.submit(order, world.policy);
  }
  for (const reference of references) {
    await world.partners.waitUntilHeld({ operation: 'place', reference }, LIMIT_MS);
  }
  await killAt(world, wire, {
    table: TABLES[implementation],
    at: Object.fromEntries(
      orders.map(({ point, order }) => [point, businessKey(orderIdOf(order))]),
    ),
    bring: (reference) => world.partners.clearFault(waiting.get(reference)),
    kill: () => worker.kill(),
  });
  for (const { point, order } of orders) {
    const where = await whereInWords(world, orderIdOf(order));
    await stage.say(`worker killed ${point}: ${order.orderRef} is ${where}`);
  }

  await world.startWorker();
  const outcomes: Outcome[] = [];
  const counted: Record<string, number> = {};
  for (const { point, order } of orders) {
    const id = orderIdOf(order);
    await untilThrough(world, id);
    const counts = await countsOnce(world, id, ({ mail }) => mail > 0);
    await stage.say(`killed ${point}: ${counts.mail} mail sent in the end`);
    counted[`killed ${point}`] = counts.mail;
    outcomes.push(judgeEffects(counts, ONCE));
  }
  return together(outcomes, counted);
}
