import type { Logger } from 'pino';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReceivedMessage, Transport } from '../transport/contract.ts';

export interface Consumer {
  transport: Transport;
  queue: string;
  /** Messages worked on at the same time. */
  concurrency: number;
  /** How long a received message is hidden at first; who works on it extends that. */
  visibilityMs: number;
  /** Longest wait of one receive. */
  waitMs: number;
  handle: (message: ReceivedMessage) => Promise<void>;
  /** Ends the claiming; what is under way is finished. */
  stop: AbortSignal;
  log: Logger;
}

/**
 * Receives as many messages as there are free hands, for as long as it may. An error of one message or
 * of the database ends neither the loop nor the other messages. Resolves when it has been stopped and
 * every message it took is handled.
 */
export async function consume(consumer: Consumer): Promise<void> {
  const { transport, queue, concurrency, visibilityMs, waitMs, stop, log } = consumer;
  const busy = new Set<Promise<void>>();
  while (!stop.aborted) {
    if (busy.size >= concurrency) await Promise.race(busy);
    try {
      const max = Math.min(concurrency - busy.size, transport.limits.maxReceiveBatch);
      const messages = await transport.receive(queue, { max, visibilityMs, waitMs, signal: stop });
      for (const message of messages) {
        const work = handleOne(consumer, message).finally(() => busy.delete(work));
        busy.add(work);
      }
    } catch (error) {
      log.error({ err: error, queue }, 'receive failed; trying again');
      await delay(500, undefined, { signal: stop }).catch(() => undefined);
    }
  }
  await Promise.all(busy);
}

/** A message that is not settled comes back when its visibility runs out. */
async function handleOne(
  { handle, log, queue, stop, transport }: Consumer,
  message: ReceivedMessage,
): Promise<void> {
  try {
    if (stop.aborted) {
      // Claimed just before the stop: handed back at once and at no cost.
      await transport.nack(queue, message.receipt, { delayMs: 0, uncounted: true });
      return;
    }
    await handle(message);
  } catch (error) {
    log.error({ err: error, queue, messageId: message.messageId }, 'message failed');
  }
}
