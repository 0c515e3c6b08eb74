import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { openTemporal } from '../../client/pipelines/temporal.ts';
import { openTemporalAgent } from '../../client/pipelines/temporal/agent.ts';
import type { AgentPipeline } from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import type { Implementation, Pipeline } from '../../core/contract.ts';
import { runIdOf, type OrderId } from '../../core/identity.ts';
import { openQueueAgent } from '../../queue/agent/open.ts';
import { openChainAgent } from '../../queue/chain/agent/open.ts';
import { openChain } from '../../queue/chain/open.ts';
import { openQueue } from '../../queue/open.ts';
import { shiftDelayedMessages } from '../time/chain.ts';
import { shiftDueRows, shiftRun } from '../time/queue.ts';
import { fastForward } from '../time/temporal.ts';

export interface Where {
  address: string;
  namespace: string;
  taskQueue: string;
  databaseUrl: string;
}

/** What differs between the implementations when one is driven from the outside. */
export interface Side {
  pipeline: Pipeline;
  forward(id: OrderId, ms: number): Promise<void>;
  /** Whoever opens it closes it. */
  openAgents(): Promise<AgentPipeline>;
  forwardAgent(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}

export function openSide(implementation: Implementation, where: Where): Promise<Side> {
  switch (implementation) {
    case 'temporal':
      return openTemporalSide(where);
    case 'queue':
      return openQueueSide(where);
    case 'chain':
      return openChainSide(where);
    default:
      return implementation satisfies never;
  }
}

async function openTemporalSide({ address, namespace, taskQueue }: Where): Promise<Side> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  return {
    pipeline: await openTemporal({ connection, namespace, taskQueue }),
    async forward(id, ms) {
      await fastForward(client, runIdOf(id), ms);
    },
    openAgents: () => openTemporalAgent({ connection, namespace, taskQueue }),
    async forwardAgent(id, ms) {
      await fastForward(client, agentRunIdOf(id), ms);
    },
    close: () => connection.close(),
  };
}

async function openQueueSide({ databaseUrl }: Where): Promise<Side> {
  const pipeline = await openQueue({ databaseUrl, user: 'lab' });
  const pool = observer(databaseUrl);
  return {
    pipeline,
    forward: (id, ms) => shiftDueRows(pool, id, ms),
    openAgents: () => openQueueAgent({ databaseUrl, user: 'lab' }),
    forwardAgent: (id, ms) => shiftRun(pool, agentRunIdOf(id), ms),
    async close() {
      await pipeline.close();
      await pool.end();
    },
  };
}

async function openChainSide({ databaseUrl }: Where): Promise<Side> {
  const pipeline = await openChain({ databaseUrl });
  const pool = observer(databaseUrl);
  return {
    pipeline,
    forward: (id, ms) => shiftDelayedMessages(pool, id, ms),
    openAgents: () => openChainAgent({ databaseUrl }),
    forwardAgent: (id, ms) => shiftDelayedMessages(pool, id, ms),
    async close() {
      await pipeline.close();
      await pool.end();
    },
  };
}

function observer(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  return pool;
}
