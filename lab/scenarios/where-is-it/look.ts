import type { OpenTransport } from '../../../queue/transport/open.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';

const HIDDEN_MS = 600_000;

/** What a look into a queue has done to it. */
export interface Look {
  messages: number;
  /** Out of every worker's sight as long as the looker holds them. */
  hidden: number;
  /** The most that one of them was received, though no worker has tried it: part of its budget. */
  receives: number;
}

/**
 * Searches a queue in the only way there is: by receiving what can be received. Looks twice, handing
 * everything back in between, as whoever searches for another order after this one does.
 */
export async function lookInto(transport: OpenTransport, queue: string): Promise<Look> {
  const before = await transport.counts(queue);
  await handBack(transport, queue, await receiveAll(transport, queue));
  const seen = await receiveAll(transport, queue);
  const during = await transport.counts(queue);
  await handBack(transport, queue, seen);
  return {
    messages: seen.length,
    hidden: during.inFlight - before.inFlight,
    receives: Math.max(0, ...seen.map(({ receiveCount }) => receiveCount)),
  };
}

async function receiveAll(transport: OpenTransport, queue: string): Promise<ReceivedMessage[]> {
  const all: ReceivedMessage[] = [];
  for (;;) {
    const some = await transport.receive(queue, { max: 10, visibilityMs: HIDDEN_MS, waitMs: 0 });
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function handBack(
  transport: OpenTransport,
  queue: string,
  messages: readonly ReceivedMessage[],
): Promise<void> {
  for (const { receipt } of messages) {
    await transport.nack(queue, receipt, { delayMs: 0, reason: 'only looked at' });
  }
}
