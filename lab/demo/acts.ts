import type { Implementation, Position } from '../../core/contract.ts';
import { businessKey, orderIdOf, type OrderId } from '../../core/identity.ts';
import { EFFECT_KINDS } from '../../partners/contract.ts';
import type { World, WorkerHandle } from '../world/world.ts';
import type { Narrator } from './narrator.ts';
import { ordersFor, type DemoOrder, type DemoOrders } from './orders.ts';

const LIMIT_MS = 60_000;

/** One implementation on the stage: its world, its only worker, and the orders of the demo. */
export interface Actor {
  world: World;
  worker: WorkerHandle;
  orders: DemoOrders;
  narrator: Narrator;
}

export async function enter(world: World, narrator: Narrator, chargeOn: string): Promise<Actor> {
  return { world, worker: await world.startWorker(), orders: ordersFor(world, chargeOn), narrator };
}

/** Submits all orders, with the supplier told to hold the first one's request after it has acted on it. */
export async function submitOrders({ world, orders }: Actor): Promise<void> {
  await world.partners.setFault({
    partner: 'supplier',
    operation: 'place',
    reference: businessKey(orderIdOf(orders.oneLine.order)),
    times: 1,
    effect: { kind: 'hang-after' },
  });
  for (const { order } of Object.values(orders)) await world.pipeline.submit(order, world.policy);
}

/** Kills the only worker at the worst moment: the supplier has placed the order, and nobody knows. */
export async function killTheWorker(actor: Actor): Promise<void> {
  const { world, orders } = actor;
  const id = orderIdOf(orders.oneLine.order);
  const held = { reference: businessKey(id), operation: 'place', acted: true };
  await world.partners.waitUntilHeld(held, LIMIT_MS);
  await actor.worker.kill();
  say(actor, `worker ${actor.worker.pid} killed (SIGKILL); the supplier had placed ${id.orderRef}`);
  say(actor, `where is ${id.orderRef}? ${await whereInWords(world, id)}`);
  await world.partners.clearFault();
  actor.worker = await world.startWorker();
  say(actor, `worker ${actor.worker.pid} started; it has never seen any of these orders`);
}

/** Answers the approval; then a second answer, which is a conflict. */
export async function approve(actor: Actor): Promise<void> {
  const { world, orders } = actor;
  if (world.implementation === 'chain') return;
  const id = orderIdOf(orders.aboveLimit.order);
  const { waitingFor } = await until(world, id, ({ waitingFor }) => waitingFor?.kind === 'person');
  if (waitingFor?.kind !== 'person') throw new Error('until() returned another position');
  const { gate, gateVersion, who, until: deadline } = waitingFor;
  say(actor, `${id.orderRef} waits for ${who} until ${deadline}; no worker is held`);
  const answer = { gate, gateVersion, decision: 'approve', by: 'Ada' } as const;
  const first = await world.pipeline.decide(id, answer);
  const second = await world.pipeline.decide(id, { ...answer, decision: 'reject', by: 'Bob' });
  say(actor, `Ada approves: ${first.kind}; Bob rejects: ${second.kind}`);
}

/** Lets the weeks until the charge date pass, on the run's clock and on the partners'. */
export async function passTheWeeks(actor: Actor): Promise<void> {
  const { world, orders } = actor;
  if (world.implementation === 'chain') return;
  const id = orderIdOf(orders.chargeLater.order);
  const { waitingFor } = await until(world, id, ({ waitingFor }) => waitingFor?.kind === 'date');
  if (waitingFor?.kind !== 'date') throw new Error('until() returned another position');
  const ms = Math.max(1, Date.parse(waitingFor.until) - Date.now());
  say(actor, `${id.orderRef} waits until ${waitingFor.until}; moving its clock there`);
  await world.partners.advanceClock(ms);
  await world.forward(id, ms);
}

/** Waits until every order has come to rest: it has ended, or, where nothing can be asked, the partners have counted what is expected. */
export async function untilAtRest({ world, orders }: Actor): Promise<void> {
  for (const expected of Object.values<DemoOrder>(orders)) {
    const id = orderIdOf(expected.order);
    if (world.implementation === 'chain') await untilCounted(world, id, expected);
    else await until(world, id, ({ status }) => status === 'ended');
  }
}

/** Gives up quietly: the table then shows what was counted instead. */
async function untilCounted(world: World, id: OrderId, { on }: DemoOrder): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    const counts = await world.partners.counts(businessKey(id));
    if (EFFECT_KINDS.every((kind) => counts[kind] === (on.chain.effects[kind] ?? 0))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function until(
  world: World,
  id: OrderId,
  wanted: (position: Position) => boolean,
): Promise<Position> {
  for (const deadline = Date.now() + LIMIT_MS; ;) {
    const answer = await world.pipeline.where(id);
    if (answer.kind === 'position' && wanted(answer.position)) return answer.position;
    if (Date.now() > deadline) {
      throw new Error(
        `${world.implementation}: ${id.orderRef} got stuck: ${await whereInWords(world, id)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function whereInWords({ pipeline }: World, id: OrderId): Promise<string> {
  const answer = await pipeline.where(id);
  if (answer.kind === 'cannot') return `cannot say: ${answer.reason}`;
  if (answer.kind === 'not-found') return 'not found';
  const { step, status, attempts, waitingFor } = answer.position;
  const attempt = attempts > 0 ? `, attempt ${attempts}` : '';
  return `at step ${step}, ${status}${attempt}${waitingFor ? `, waiting for ${waitingFor.kind}` : ''}`;
}

const WIDTH = Math.max(
  ...(['chain', 'queue', 'temporal'] satisfies Implementation[]).map(({ length }) => length),
);

function say({ narrator, world }: Actor, text: string): void {
  narrator.say(`${world.implementation.padEnd(WIDTH)}  ${text}`);
}
