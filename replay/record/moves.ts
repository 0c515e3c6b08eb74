import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Decision } from '../../core/contract.ts';
import { businessKey, runIdOf, type OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { HeldRequest } from '../../partners/control.ts';
import { LIMIT_MS, untilPosition } from '../../lab/observe/until.ts';
import type { World } from '../../lab/world/world.ts';

export const day = 86_400_000;

/** An order of the recordings. All of it is fixed but its name, so that recordings differ little. */
export function anOrder(
  name: string,
  changes: Partial<Order> = {},
  lines = 1,
  unitPrice = '4.00',
): Order {
  return {
    orderRef: `PO-${name}`,
    buyer: { id: 'acme', name: 'Acme', email: 'orders@acme.example' },
    supplierId: 'sup_881',
    currency: 'EUR',
    lines: Array.from({ length: lines }, (_, n) => ({
      lineId: String(n + 1),
      sku: `${name}-${n + 1}`,
      name: `Article ${n + 1}`,
      quantity: '10',
      unit: 'NAR',
      unitPrice,
    })),
    ...changes,
  };
}

/** Above the approval limit. */
export function large(name: string): Order {
  return anOrder(name, {}, 1, '2000.00');
}

/** Returns when the run waits for a person (`who`, when given) or a date. */
export async function waiting(world: World, id: OrderId, who?: string): Promise<void> {
  await untilPosition(world, id, ({ status, waitingFor }) => {
    const asked = waitingFor?.kind === 'person' ? waitingFor.who : undefined;
    return status === 'waiting' && (who === undefined || who === asked);
  });
}

export async function stuck(world: World, id: OrderId): Promise<void> {
  await untilPosition(world, id, ({ status }) => status === 'stuck');
}

export async function cancel(world: World, id: OrderId): Promise<void> {
  const { kind } = await world.pipeline.cancel(id, 'Ada', 'changed our mind');
  if (kind !== 'requested') throw new Error(`cancel of ${id.orderRef}: ${kind}`);
}

/** Gives an answer to the approval, or one like it; whether it is taken is for the run to say. */
export async function answer(
  world: World,
  id: OrderId,
  decision: Decision['decision'],
  changes: Partial<Decision> = {},
): Promise<void> {
  const given = { gate: 'approval', gateVersion: 1, decision, by: 'Ada', ...changes };
  const { kind } = await world.pipeline.decide(id, given);
  if (kind !== 'accepted' && kind !== 'conflict') throw new Error(`${id.orderRef}: ${kind}`);
}

/** The request that the order's fault holds: its run is in that step, and waits. */
export async function heldRequest(world: World, id: OrderId): Promise<HeldRequest> {
  const faults = await world.partners.faults();
  const own = faults.find(
    ({ fault }) => fault.reference === businessKey(id) || fault.sku?.startsWith(refOf(id)) === true,
  );
  if (!own) throw new Error(`${id.orderRef} has no fault of its own`);
  return world.partners.waitUntilHeld({ faultId: own.faultId }, LIMIT_MS);
}

/** Begins the run anew from its first task, as an operator of the engine would. Returns when the new run is there. */
export async function resetToStart(client: Client, id: OrderId): Promise<void> {
  const workflowId = runIdOf(id);
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  if (!firstTask?.eventId) throw new Error(`${workflowId} has not begun`);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'recorded',
    requestId: randomUUID(),
    workflowTaskFinishEventId: firstTask.eventId,
  });
}

function refOf({ orderRef }: OrderId): string {
  return orderRef.slice('PO-'.length);
}
