import { proxyActivities } from '@temporalio/workflow';
import type { Order } from '../../../core/order/schema.ts';
import type { Activities } from './temporal.ts';

const { price, credit, reserve } = proxyActivities<Activities>({
  startToCloseTimeout: '5s',
  retry: { initialInterval: '100ms', maximumAttempts: 10 },
});

export async function threeSteps(order: Order): Promise<void> {
  await price(order);
  await credit(order);
  await reserve(order);
}
