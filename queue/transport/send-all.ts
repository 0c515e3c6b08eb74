import type { Db, OutgoingMessage, Transport } from './contract.ts';

/** Sends any number of messages, in as many batches as the transport wants. Throws as `send` does. */
export async function sendAll(
  transport: Transport,
  db: Db,
  queue: string,
  messages: OutgoingMessage[],
): Promise<void> {
  const { maxSendBatch } = transport.limits;
  for (let at = 0; at < messages.length; at += maxSendBatch) {
    await transport.send(db, queue, messages.slice(at, at + maxSendBatch));
  }
}
