import { Client, Connection } from '@temporalio/client';
import type { Order } from '../../../core/order/schema.ts';
import { connect } from '../../../queue/connect.ts';
import type { Stage } from '../../scenario.ts';
import { startScriptWorker, type ScriptWorker } from '../../world/script-worker.ts';
import type { World } from '../../world/world.ts';
import * as chain from './chain.ts';
import * as temporal from './temporal.ts';
import type { WorkerJob } from './worker.ts';

/** The three steps on one implementation, as a client sees them. */
export interface Door {
  submit(order: Order): Promise<void>;
  /** Events that the engine keeps of a run; undefined where there is no engine. */
  eventsOf?: (order: Order) => Promise<number>;
}

export function openDoor(stage: Stage, world: World): Promise<Door> {
  switch (world.implementation) {
    case 'chain':
      return openChain(stage, world);
    case 'queue':
      return Promise.resolve({
        async submit(order) {
          await world.pipeline.submit(order, world.policy);
        },
      });
    case 'temporal':
      return openTemporal(stage, world);
    default:
      return world.implementation satisfies never;
  }
}

async function openChain({ cleanUp }: Stage, { databaseUrl: url }: World): Promise<Door> {
  const pooling = { url, applicationName: 'three-steps', maxConnections: 2 };
  const connected = await connect(pooling, { profile: 'postgres' });
  cleanUp(connected.close);
  return { submit: (order) => chain.submit(connected, order) };
}

async function openTemporal({ cleanUp }: Stage, world: World): Promise<Door> {
  const { address, namespace } = world.temporal;
  const connection = await Connection.connect({ address });
  cleanUp(() => connection.close());
  const client = new Client({ connection, namespace });
  return {
    submit: (order) => temporal.submit(client, world.name, order),
    async eventsOf(order) {
      const handle = client.workflow.getHandle(temporal.workflowIdOf(order));
      await handle.result();
      return (await handle.fetchHistory()).events?.length ?? 0;
    },
  };
}

/** Starts a worker process of the three steps, and waits until it is ready. */
export async function startStepWorker(stage: Stage, world: World): Promise<ScriptWorker> {
  const job: WorkerJob = {
    on: world.implementation,
    databaseUrl: world.databaseUrl,
    partnersUrl: world.partnersUrl,
    visibilityMs: world.policy.heartbeatMs,
    temporal: { ...world.temporal, taskQueue: world.name },
  };
  return startScriptWorker(stage, 'lab/scenarios/three-steps/worker.ts', {
    ...world.guardEnv,
    Q2T_LAB_JOB: JSON.stringify(job),
  });
}
