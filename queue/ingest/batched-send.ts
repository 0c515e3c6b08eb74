import type { Pool } from 'pg';
import type { OutgoingMessage, Transport } from '../transport/contract.ts';
import type { Limits } from '../transport/limits.ts';

interface Waiting {
  message: OutgoingMessage;
  bytes: number;
  sent: () => void;
  failed: (error: unknown) => void;
}

/**
 * Sends single messages, several in one commit when they come faster than commits do: whatever arrives
 * while one is under way goes into the next. The promise resolves when the message is durable and
 * rejects as `send` throws; a bad message then takes the others of its batch with it, so check first.
 */
export function batchedSend(
  transport: Transport,
  pool: Pool,
  queue: string,
): (message: OutgoingMessage) => Promise<void> {
  const waiting: Waiting[] = [];
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, fitting(waiting, transport.limits));
      try {
        await transport.send(
          pool,
          queue,
          batch.map(({ message }) => message),
        );
        for (const { sent } of batch) sent();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    writing = false;
  }

  return (message) =>
    new Promise((sent, failed) => {
      const bytes = Buffer.byteLength(JSON.stringify(message.body));
      waiting.push({ message, bytes, sent, failed });
      if (!writing) void write();
    });
}

/** How many of the first ones go into one send; a single one that is too large is refused by it. */
function fitting(waiting: Waiting[], { maxSendBatch, maxBodyBytes }: Limits): number {
  let count = 0;
  let total = 0;
  for (const { bytes } of waiting.slice(0, maxSendBatch)) {
    total += bytes;
    if (total > maxBodyBytes) break;
    count += 1;
  }
  return Math.max(count, 1);
}
