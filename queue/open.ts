import type { Pipeline } from '../core/contract.ts';
import { defaultPolicy } from '../core/policy.ts';
import { openPool } from './database.ts';
import { listDeadLetters, noteLook } from './dead-letters/list.ts';
import { discard, fix, replay } from './dead-letters/operate.ts';
import { decide } from './gates/decide.ts';
import { migrate } from './migrations/migrate.ts';
import { cancel } from './runs/cancel.ts';
import { list } from './runs/list.ts';
import { submit } from './runs/submit.ts';
import { where } from './runs/where.ts';
import { openTransport } from './transport/open.ts';

export interface QueueTarget {
  databaseUrl: string;
  /** Noted as who looked at the dead letters. Default: the user of this process. */
  user?: string;
}

/**
 * Opens the hand-built implementation. Brings the database up to date first; needs no live worker.
 * Throws what `pg` throws when the database can't be reached.
 */
export async function openQueue({ databaseUrl, user }: QueueTarget): Promise<Pipeline> {
  await migrate(databaseUrl);
  const pool = openPool({ url: databaseUrl, applicationName: 'q2t-client', maxConnections: 5 });
  const transport = await openTransport({ pool, profile: 'postgres' }).catch(
    async (error: unknown) => {
      await pool.end();
      throw error;
    },
  );
  const operators = { pool, transport };
  const looker = user ?? process.env['USER'] ?? 'unknown';
  return {
    implementation: 'queue',
    submit: (order, policy = defaultPolicy) => submit(pool, transport, order, policy),
    where: (id) => where(pool, id),
    decide: (id, decision) => decide(pool, transport, id, decision),
    cancel: (id, by, reason) => cancel(pool, transport, id, { by, reason }),
    list: (filter) => list(pool, filter),
    deadLetters: {
      async list() {
        const deadLetters = await listDeadLetters(pool);
        await noteLook(pool, looker);
        return { kind: 'dead-letters', deadLetters };
      },
      replay: (id, action) => replay(operators, id, action),
      discard: (id, action) => discard(operators, id, action),
      fix: (id, action) => fix(operators, id, action),
    },
    async close() {
      await transport.close();
      await pool.end();
    },
  };
}

export { openChain } from './chain/open.ts';
