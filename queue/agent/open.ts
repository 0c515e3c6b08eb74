import type { AgentPipeline } from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import { connectClient } from '../connect.ts';
import type { QueueTarget } from '../connect.ts';
import { lookAtDeadLetters } from '../dead-letters/list.ts';
import { discard, replay } from '../dead-letters/operate.ts';
import { cancel } from '../runs/cancel.ts';
import { answer } from './answer.ts';
import { ask } from './ask.ts';
import { list } from './list.ts';
import { places, transcript, where } from './where.ts';

/**
 * Opens the buying agent of the hand-built implementation. Brings the database up to date first; needs
 * no live worker. Throws what `pg` throws when the database can't be reached.
 */
export async function openQueueAgent(target: QueueTarget): Promise<AgentPipeline> {
  const { pool, transport, close } = await connectClient(target, 'q2t-client');
  const operators = { pool, transport };
  return {
    implementation: 'queue',
    ask: (asked) => ask(pool, transport, asked),
    where: (id) => where(pool, id),
    answer: (id, given) => answer(pool, transport, id, given),
    cancel: (id, by, reason) => cancel(pool, transport, agentRunIdOf(id), { by, reason }),
    transcript: (id) => transcript(pool, id),
    list: (filter) => list(pool, filter),
    deadLetters: {
      list: () => lookAtDeadLetters(pool, 'agent', target.user),
      replay: (id, action) => replay(operators, agentRunIdOf(id), action),
      discard: (id, action) => discard(operators, agentRunIdOf(id), action),
    },
    places: () => places(pool),
    close,
  };
}
