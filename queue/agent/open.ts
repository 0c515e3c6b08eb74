import type { AgentPipeline } from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import { connect } from '../connect.ts';
import { listDeadLetters, noteLook } from '../dead-letters/list.ts';
import { discard, replay } from '../dead-letters/operate.ts';
import { migrate } from '../migrations/migrate.ts';
import type { QueueTarget } from '../open.ts';
import { cancel } from '../runs/cancel.ts';
import { answer } from './answer.ts';
import { ask } from './ask.ts';
import { list } from './list.ts';
import { places, transcript, where } from './where.ts';

/**
 * Opens the buying agent of the hand-built implementation. Brings the database up to date first; needs
 * no live worker. Throws what `pg` throws when the database can't be reached.
 */
export async function openQueueAgent({
  databaseUrl,
  user,
  profile = 'postgres',
}: QueueTarget): Promise<AgentPipeline> {
  await migrate(databaseUrl);
  const { pool, transport, close } = await connect(
    { url: databaseUrl, applicationName: 'q2t-client', maxConnections: 5 },
    { profile },
  );
  const operators = { pool, transport };
  const looker = user ?? process.env['USER'] ?? 'unknown';
  return {
    implementation: 'queue',
    ask: (asked) => ask(pool, transport, asked),
    where: (id) => where(pool, id),
    answer: (id, given) => answer(pool, transport, id, given),
    cancel: (id, by, reason) => cancel(pool, transport, agentRunIdOf(id), { by, reason }),
    transcript: (id) => transcript(pool, id),
    list: (filter) => list(pool, filter),
    deadLetters: {
      async list() {
        const deadLetters = await listDeadLetters(pool, 'agent');
        await noteLook(pool, looker);
        return { kind: 'dead-letters', deadLetters };
      },
      replay: (id, action) => replay(operators, agentRunIdOf(id), action),
      discard: (id, action) => discard(operators, agentRunIdOf(id), action),
    },
    places: () => places(pool),
    close,
  };
}
