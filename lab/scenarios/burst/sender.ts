import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../../../core/order/schema.ts';

const AT_ONCE = 32;
const AGAIN_AFTER_MS = 200;
const GIVE_UP_AFTER_MS = 120_000;

/**
 * Sends every order until it is taken, many at once, as senders of webhooks do: what fails is sent again.
 * Throws when one is not taken within two minutes.
 */
export async function deliver(
  orders: readonly Order[],
  send: (order: Order) => Promise<unknown>,
): Promise<{ perSecond: string }> {
  const began = performance.now();
  const waiting = orders.values();
  const sender = async () => {
    for (const order of waiting) await insist(order, send);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const perSecond = orders.length / ((performance.now() - began) / 1_000);
  return { perSecond: `${Math.round(perSecond)}/s` };
}

async function insist(order: Order, send: (order: Order) => Promise<unknown>): Promise<void> {
  for (const deadline = Date.now() + GIVE_UP_AFTER_MS; ;) {
    try {
      await send(order);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(AGAIN_AFTER_MS);
    }
  }
}
