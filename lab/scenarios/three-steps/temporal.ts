import type { Client } from '@temporalio/client';
import { businessKey } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Partners } from '../../../partners/contract.ts';
import { credit, price, reserve } from './steps.ts';

export function activitiesWith(partners: Partners) {
  return {
    price: (order: Order) => price(partners, order),
    credit: (order: Order) => credit(partners, order),
    reserve: (order: Order) => reserve(partners, order),
  };
}

export type Activities = ReturnType<typeof activitiesWith>;

export async function submit(client: Client, taskQueue: string, order: Order): Promise<void> {
  const workflowId = workflowIdOf(order);
  await client.workflow.start('threeSteps', { args: [order], workflowId, taskQueue });
}

export function workflowIdOf(order: Order): string {
  return `three-steps/${businessKey(orderIdOf(order))}`;
}
