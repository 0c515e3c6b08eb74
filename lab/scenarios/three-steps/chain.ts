import type { Order } from '../../../core/order/schema.ts';
import type { Partners } from '../../../partners/contract.ts';
import type { Connected } from '../../../queue/connect.ts';
import { withTransaction } from '../../../queue/database.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import { credit, price, reserve } from './steps.ts';

export const QUEUE = 'three-steps';

const STEPS = [price, credit, reserve];

/** The whole run: which step is next, and what it is about. */
interface Link {
  next: number;
  order: Order;
}

export async function submit({ pool, transport }: Connected, order: Order): Promise<void> {
  const body: Link = { next: 0, order };
  await transport.send(pool, QUEUE, [{ body }]);
}

/** Does a step; the message of the next one and the ack of this one are one commit. */
export async function handle(
  { pool, transport }: Connected,
  partners: Partners,
  message: ReceivedMessage,
): Promise<void> {
  // Nobody but the two functions here sends to this queue.
  const { next, order } = message.body as Link;
  await STEPS[next]?.(partners, order);
  await withTransaction(pool, async (tx) => {
    const body: Link = { next: next + 1, order };
    if (body.next < STEPS.length) await transport.send(tx, QUEUE, [{ body }]);
    await transport.ack(QUEUE, message.receipt, tx);
  });
}
