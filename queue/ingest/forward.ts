import type { Logger } from 'pino';
import type { Pipeline } from '../../core/contract.ts';
import { nextDelay } from '../../core/backoff.ts';
import { parseOrder } from '../../core/order/parse.ts';
import { defaultPolicy } from '../../core/policy.ts';
import type { ReceivedMessage, Transport } from '../transport/contract.ts';
import { consume } from '../worker/consume.ts';
import { INGEST_QUEUE } from './accept.ts';

export interface ForwardOptions {
  transport: Transport;
  pipeline: Pipeline;
  /** Orders handed on at the same time: as many as whatever remembers runs can stand. */
  concurrency: number;
  visibilityMs: number;
  stop: AbortSignal;
  log: Logger;
}

/**
 * Hands accepted orders on, at a pace of its own: the queue absorbs the burst, the pipeline remembers the
 * runs. A message is acked after its run was started, so a worker that dies in between starts it again,
 * which the order's identity answers. While the pipeline can't be reached, everything waits, at no cost
 * to the messages. Resolves when stopped and nothing is under way.
 */
export function forward(options: ForwardOptions): Promise<void> {
  const { transport, pipeline, concurrency, visibilityMs, stop, log } = options;
  let failures = 0;

  async function handOn({ body, receipt }: ReceivedMessage): Promise<void> {
    const read = parseOrder(body);
    if (!read.ok) {
      // Accepted by another version of this program: only a person can tell what it meant.
      await transport.deadLetter(INGEST_QUEUE, receipt, 'not an order that can be read');
      return;
    }
    try {
      const result = await pipeline.submit(read.order);
      failures = 0;
      if (result.kind === 'conflict') {
        await transport.deadLetter(INGEST_QUEUE, receipt, result.reason);
      } else await transport.ack(INGEST_QUEUE, receipt);
    } catch (error) {
      failures = Math.min(failures + 1, defaultPolicy.maxAttempts - 1);
      const delay = nextDelay('busy', failures, defaultPolicy, Math.random);
      const delayMs = delay === 'give-up' ? defaultPolicy.retryMaxMs : delay;
      log.warn({ err: error, orderRef: read.order.orderRef, delayMs }, 'not handed on yet');
      await transport.nack(INGEST_QUEUE, receipt, { delayMs, uncounted: true });
    }
  }

  return consume({
    transport,
    queue: INGEST_QUEUE,
    concurrency,
    visibilityMs,
    waitMs: 5_000,
    handle: handOn,
    stop,
    log,
  });
}
