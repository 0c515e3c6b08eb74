import type { Pipeline, Position } from '../../core/contract.ts';
import { businessKey, orderIdOf, runIdOf, type OrderId } from '../../core/identity.ts';
import { defaultPolicy, type Policy } from '../../core/policy.ts';
import type { PartnersControl } from '../../partners/control.ts';
import type { SupervisedProcess } from '../../stack/process.ts';
import type { Narrator } from './narrator.ts';
import type { demoOrders } from './orders.ts';

/** The shared policy; only how fast a lost worker is noticed is shortened. Days stay days. */
export const demoPolicy: Policy = {
  ...defaultPolicy,
  heartbeatMs: 2_000,
  workflowTaskTimeoutMs: 2_000,
  settleMs: 500,
};

const LIMIT_MS = 60_000;

export interface Stage {
  narrator: Narrator;
  pipeline: Pipeline;
  partners: PartnersControl;
  worker: SupervisedProcess;
  startWorker: () => Promise<SupervisedProcess>;
  /** Moves one run's clock. */
  forward: (workflowId: string, ms: number) => Promise<void>;
  orders: ReturnType<typeof demoOrders>;
}

/** Submits all orders, with the supplier told to hold the first one's request after it has acted on it. */
export async function submitOrders({ narrator, pipeline, partners, orders }: Stage): Promise<void> {
  await partners.setFault({
    partner: 'supplier',
    operation: 'place',
    reference: businessKey(orderIdOf(orders.oneLine.order)),
    times: 1,
    effect: { kind: 'hang-after' },
  });
  for (const { title, order } of Object.values(orders)) {
    const { kind } = await pipeline.submit(order, demoPolicy);
    narrator.say(`${order.orderRef} ${kind}: ${title}`);
  }
}

/** Kills the only worker at the worst moment: the supplier has placed the order, and nobody knows. */
export async function killTheWorker(stage: Stage): Promise<void> {
  const { narrator, partners, orders, worker } = stage;
  const id = orderIdOf(orders.oneLine.order);
  await partners.waitUntilHeld(
    { reference: businessKey(id), operation: 'place', acted: true },
    LIMIT_MS,
  );
  narrator.say(`The supplier has placed ${id.orderRef} and not answered yet.`);
  const { pid } = worker;
  await worker.kill();
  narrator.say(`Worker ${pid} killed (SIGKILL). No worker is left.`);
  narrator.say(`Where is ${id.orderRef}? ${inWords(await positionOf(stage, id))}`);
  await partners.clearFault();
  const successor = await stage.startWorker();
  narrator.say(`Worker ${successor.pid} started. It has never seen any of these orders.`);
}

/** Answers the approval; then a second answer, which is a conflict. */
export async function approve(stage: Stage): Promise<void> {
  const { narrator, pipeline, orders } = stage;
  const id = orderIdOf(orders.aboveLimit.order);
  const { waitingFor } = await until(stage, id, ({ waitingFor }) => waitingFor?.kind === 'person');
  if (waitingFor?.kind !== 'person') throw new Error('until() returned another position');
  const { gate, gateVersion, who, until: deadline } = waitingFor;
  narrator.say(`${id.orderRef} waits for ${who} until ${deadline}; no worker is held.`);
  const answer = { gate, gateVersion, decision: 'approve', by: 'Ada' } as const;
  narrator.say(`Ada approves: ${(await pipeline.decide(id, answer)).kind}`);
  const second = await pipeline.decide(id, { ...answer, decision: 'reject', by: 'Bob' });
  narrator.say(
    `Bob rejects: ${second.kind}${second.kind === 'conflict' ? ` (${second.conflict})` : ''}`,
  );
}

/** Lets the weeks until the charge date pass, on the engine's clock and on the partners'. */
export async function passTheWeeks(stage: Stage): Promise<void> {
  const { narrator, partners, orders } = stage;
  const id = orderIdOf(orders.chargeLater.order);
  const { waitingFor } = await until(stage, id, ({ waitingFor }) => waitingFor?.kind === 'date');
  if (waitingFor?.kind !== 'date') throw new Error('until() returned another position');
  const ms = Date.parse(waitingFor.until) - Date.now();
  const days = Math.round(ms / 86_400_000);
  narrator.say(
    `${id.orderRef} waits until ${waitingFor.until}: ${days} days, moving its clock there.`,
  );
  await partners.advanceClock(ms);
  await stage.forward(runIdOf(id), Math.max(1, ms));
}

/** Waits until every order has ended. */
export async function untilAllEnded(stage: Stage): Promise<void> {
  for (const { order } of Object.values(stage.orders)) {
    await until(stage, orderIdOf(order), ({ status }) => status === 'ended');
  }
}

async function until(
  stage: Stage,
  id: OrderId,
  wanted: (position: Position) => boolean,
): Promise<Position> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const position = await positionOf(stage, id);
    if (wanted(position)) return position;
    if (Date.now() > deadline) throw new Error(`${id.orderRef} got stuck: ${inWords(position)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function positionOf(
  { pipeline }: Pick<Stage, 'pipeline'>,
  id: OrderId,
): Promise<Position> {
  const answer = await pipeline.where(id);
  if (answer.kind !== 'position') throw new Error(`where ${id.orderRef}: ${answer.kind}`);
  return answer.position;
}

function inWords({ step, status, attempts, waitingFor, lastFailure }: Position): string {
  const parts = [`at step ${step}, ${status}`];
  if (attempts > 0) parts.push(`attempt ${attempts}`);
  if (waitingFor)
    parts.push(`waiting for ${waitingFor.kind === 'person' ? waitingFor.who : waitingFor.kind}`);
  if (lastFailure !== undefined) parts.push(`last failure: ${lastFailure}`);
  return parts.join(', ');
}
