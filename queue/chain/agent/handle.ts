import { StepFailure } from '../../../core/failures.ts';
import type { Model } from '../../../partners/contract.ts';
import { withTransaction } from '../../database.ts';
import type { ReceivedMessage } from '../../transport/contract.ts';
import { CHAIN_QUEUE, tryAgainOrGiveUp } from '../handle.ts';
import type { Chain } from '../handle.ts';
import { takeTurn } from './turn.ts';
import type { AgentLink } from './turn.ts';

export const CHAIN_AGENTS_QUEUE = 'chain-agents';

export type AgentChain = Chain & { model: Pick<Model, 'complete'> };

/**
 * Takes one turn: the next message and the ack of this one are one transaction. A message that has grown
 * too large for the queue can't be sent, so the turn is taken again, and its model paid again, with every
 * receive that is left.
 */
export async function handleTurn(chain: AgentChain, message: ReceivedMessage): Promise<void> {
  const { pool, transport } = chain;
  // Only `ask` and this function send here; what can't be read fails, and dies of its receives.
  const link = message.body as AgentLink;
  try {
    const next = await takeTurn(link, chain);
    await withTransaction(pool, async (tx) => {
      if (next !== 'ended' && 'agent' in next) {
        await transport.send(tx, CHAIN_AGENTS_QUEUE, [{ body: next.agent }]);
      } else if (next !== 'ended') {
        await transport.send(tx, CHAIN_QUEUE, [{ body: next.order }]);
      }
      await transport.ack(CHAIN_AGENTS_QUEUE, message.receipt, tx);
    });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { policy } = link.input;
    await tryAgainOrGiveUp(transport, CHAIN_AGENTS_QUEUE, message, { failure: error, policy });
  }
}
