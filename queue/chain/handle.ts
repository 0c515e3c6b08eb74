import { nextDelay } from '../../core/backoff.ts';
import { StepFailure } from '../../core/failures.ts';
import type { Policy } from '../../core/policy.ts';
import { withTransaction } from '../database.ts';
import type { Engine } from '../runs/engine.ts';
import type { ReceivedMessage } from '../transport/contract.ts';
import { follow, LONGEST_DELAY_MS, type Link } from './steps.ts';

export const CHAIN_QUEUE = 'chain';

export type Chain = Pick<Engine, 'pool' | 'transport' | 'partners'>;

/** Does one link: the next message and the ack of this one are one transaction. */
export async function handleLink(chain: Chain, message: ReceivedMessage): Promise<void> {
  const { pool, transport, partners } = chain;
  // Only `submit` and this function send here; what can't be read fails, and dies of its receives.
  const link = message.body as Link;
  try {
    const next = await follow(link, partners);
    await withTransaction(pool, async (tx) => {
      if (next) await transport.send(tx, CHAIN_QUEUE, [next]);
      await transport.ack(CHAIN_QUEUE, message.receipt, tx);
    });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    await failed(chain, message, link, error);
  }
}

async function failed(
  { pool, transport }: Chain,
  message: ReceivedMessage,
  link: Link,
  failure: StepFailure,
): Promise<void> {
  if (failure.failureClass === 'refused' && link.step !== 'undo') {
    await withTransaction(pool, async (tx) => {
      await transport.send(tx, CHAIN_QUEUE, [{ body: { ...link, step: 'undo' } }]);
      await transport.ack(CHAIN_QUEUE, message.receipt, tx);
    });
    return;
  }
  await tryAgainOrGiveUp(transport, CHAIN_QUEUE, message, { failure, policy: link.input.policy });
}

/** The message's own count of receives is the only budget there is: a lost worker uses it up too. */
export async function tryAgainOrGiveUp(
  transport: Chain['transport'],
  queue: string,
  { receipt, receiveCount }: ReceivedMessage,
  { failure, policy }: { failure: StepFailure; policy: Policy },
): Promise<void> {
  const { failureClass, message, retryAfterMs } = failure;
  const delay = nextDelay(failureClass, receiveCount, policy, Math.random, retryAfterMs);
  // A partner that asks for more than a queue delays is asked too early: nothing here keeps the time.
  const delayMs = delay === 'give-up' ? 0 : Math.min(delay, LONGEST_DELAY_MS);
  if (delay === 'give-up') await transport.deadLetter(queue, receipt, message);
  else await transport.nack(queue, receipt, { delayMs, reason: message });
}
