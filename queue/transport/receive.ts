import { claim, dueInMs } from './claim.ts';
import type { ReceivedMessage, ReceiveOptions } from './contract.ts';
import { buryMany } from './dead-letter.ts';
import { refuseAboveInFlightLimit } from './in-flight.ts';
import { checkQueue, checkReceive, checkVisibility } from './limits.ts';
import type { Session } from './session.ts';

/**
 * Looks, and waits when there is nothing: until a hint, until the next delayed message is due, until
 * the next poll, at most `waitMs`. The wait is measured on a monotonic clock; what is due is decided
 * by the database alone.
 */
export async function receive(
  session: Session,
  queue: string,
  { max, visibilityMs, waitMs, signal }: ReceiveOptions,
): Promise<ReceivedMessage[]> {
  checkQueue(queue);
  checkReceive(session.limits, max, waitMs);
  checkVisibility(session.limits, visibilityMs);
  const deadline = performance.now() + waitMs;
  while (!signal?.aborted && !session.waiters.closed) {
    const seen = session.waiters.generation(queue);
    await refuseAboveInFlightLimit(session, queue);
    const claimed = await claim(session, session.pool, queue, max, visibilityMs);
    // A full catch means that there may be more: let the next one in line look.
    if (claimed.length === max) session.waiters.wakeOne(queue);
    const deliverable = await withoutSpent(session, queue, claimed);
    if (deliverable.length > 0) return deliverable;
    if (claimed.length > 0) continue;

    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return [];
    const dueMs = await dueInMs(session, queue);
    await session.waiters.wait(queue, { seen, leftMs, dueMs, signal });
  }
  return [];
}

/** Messages beyond their receives go to the dead letters instead of to one more consumer. */
async function withoutSpent(
  session: Session,
  queue: string,
  claimed: ReceivedMessage[],
): Promise<ReceivedMessage[]> {
  const { maxReceives } = session;
  const spent = claimed.filter((message) => message.receiveCount > maxReceives);
  if (spent.length === 0) return claimed;
  await buryMany(session, queue, spent);
  return claimed.filter((message) => message.receiveCount <= maxReceives);
}
