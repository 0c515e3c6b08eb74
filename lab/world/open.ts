import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { openTemporal } from '../../client/pipelines/temporal.ts';
import type { Implementation, Pipeline } from '../../core/contract.ts';
import { runIdOf, type OrderId } from '../../core/identity.ts';
import { controlPartners } from '../../partners/control.ts';
import { openChain } from '../../queue/chain/open.ts';
import { openQueue } from '../../queue/open.ts';
import { createDatabase } from '../../stack/databases.ts';
import { scriptProcess, startPartners, workerKinds } from '../../stack/parts.ts';
import type { SupervisedProcess } from '../../stack/process.ts';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { shiftDueRows } from '../time/queue.ts';
import { fastForward } from '../time/temporal.ts';
import type { Ground } from './ground.ts';
import { labOrder, labPolicy } from './order.ts';
import { handleOf } from './worker-process.ts';
import type { World } from './world.ts';

export interface WorldOptions {
  /** More environment for the workers; a wire's address instead of the server's own, say. */
  workerEnv?: NodeJS.ProcessEnv;
}

/** A world of its own for one implementation: partners, a database, a task queue, no worker yet. */
export async function openWorld(
  ground: Ground,
  implementation: Implementation,
  options: WorldOptions = {},
): Promise<World> {
  const name = `${implementation}-${randomBytes(4).toString('hex')}`;
  const processes = new Set<SupervisedProcess>();
  const parts = {
    dataDir: join(ground.stack.dataDir, name),
    restart: false,
    onStart: (process: SupervisedProcess) => {
      ground.register(process);
      processes.add(process);
    },
  };
  const database = await createDatabase(ground.stack.postgres.urlOf('postgres'));
  const { url: partnersUrl } = await startPartners(undefined, parts);
  const { address, namespace } = ground.stack.temporal;
  const side = await openSide(implementation, {
    address,
    namespace,
    taskQueue: name,
    databaseUrl: database.url,
  });
  let workers = 0;

  return {
    implementation,
    name,
    pipeline: side.pipeline,
    partners: controlPartners(partnersUrl),
    policy: labPolicy,
    databaseUrl: database.url,
    order: (orderRef, changes) => labOrder(name, orderRef, changes),
    forward: (id, ms) => side.forward(id, ms),
    async startWorker(env = {}) {
      const worker = scriptProcess(
        `worker-${++workers}`,
        workerKinds[implementation].script,
        parts,
        {
          ...isolatedEnv(process.env),
          TEMPORAL_ADDRESS: address,
          TEMPORAL_NAMESPACE: namespace,
          DATABASE_URL: database.url,
          PARTNERS_URL: partnersUrl,
          Q2T_TASK_QUEUE: name,
          Q2T_BUNDLE: ground.bundle,
          Q2T_STICKY_TIMEOUT_MS: '300',
          Q2T_VISIBILITY_MS: String(labPolicy.heartbeatMs),
          ...options.workerEnv,
          ...env,
        },
      );
      await worker.start();
      return handleOf(worker);
    },
    async close() {
      await Promise.all([...processes].map((process) => process.kill()));
      await side.close();
      await database.drop();
    },
  };
}

interface Where {
  address: string;
  namespace: string;
  taskQueue: string;
  databaseUrl: string;
}

interface Side {
  pipeline: Pipeline;
  forward(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}

function openSide(implementation: Implementation, where: Where): Promise<Side> {
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
    close: () => connection.close(),
  };
}

async function openQueueSide({ databaseUrl }: Where): Promise<Side> {
  const pipeline = await openQueue({ databaseUrl, user: 'lab' });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  return {
    pipeline,
    forward: (id, ms) => shiftDueRows(pool, id, ms),
    async close() {
      await pipeline.close();
      await pool.end();
    },
  };
}

/** A chain has no clock of its own: what is due travels in a message's delay, 15 minutes at a time. */
async function openChainSide({ databaseUrl }: Where): Promise<Side> {
  const pipeline = await openChain({ databaseUrl });
  return {
    pipeline,
    forward: () => Promise.reject(new Error('a chain has no clock that could be moved')),
    close: () => pipeline.close(),
  };
}
