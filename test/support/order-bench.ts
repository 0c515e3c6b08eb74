import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { openInvoices } from '../../activities/invoices.ts';
import { openTemporal } from '../../client/pipelines/temporal.ts';
import type { Pipeline, Position } from '../../core/contract.ts';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import { connectPartners } from '../../partners/clients/connect.ts';
import { controlPartners } from '../../partners/control.ts';
import type { PartnersControl } from '../../partners/control.ts';
import { startPartners } from '../../partners/server/server.ts';
import type { Deployment } from '../../workers/deployment.ts';
import { startOrderWorkers } from '../../workers/order-workers.ts';
import { defaultRates } from '../../workers/rates.ts';
import type { Rates } from '../../workers/rates.ts';
import type { RunResult } from '../../workflows/run.ts';
import { emptyDatabase } from './postgres.ts';
import { temporalAddress, workflowBundle } from './temporal.ts';
import { untilPosition } from './until.ts';

/** Long enough on a machine that runs other tests as well; reached only when something is wrong. */
const LIMIT_MS = 120_000;

/** The real thing, all in this process but the servers: partners, database, a worker on a queue of its own, a client. */
export interface OrderBench {
  pipeline: Pipeline;
  client: Client;
  partners: PartnersControl;
  partnersUrl: string;
  databaseUrl: string;
  address: string;
  taskQueue: string;
  /** Starts another worker on the bench's queue, of a deployment when one is given. Returns how to stop it. */
  startWorker(deployment?: Deployment): Promise<() => Promise<void>>;
  /** Polls until the run's position is as wanted. Throws, with the position, when it is not so in time. */
  until(id: OrderId, wanted: (position: Position) => boolean): Promise<Position>;
  position(id: OrderId): Promise<Position>;
  result(order: Order, withinMs?: number): Promise<RunResult>;
  close(): Promise<void>;
}

interface BenchOptions {
  /** Whether to start one. Default true. */
  worker?: boolean;
  confirmWithinMs?: number;
  /** Instead of the default ones. */
  rates?: Partial<Rates>;
}

export async function openBench({
  worker = true,
  confirmWithinMs = 10_000,
  rates = {},
}: BenchOptions = {}): Promise<OrderBench> {
  const address = await temporalAddress();
  const taskQueue = `orders-${randomBytes(6).toString('hex')}`;
  const database = await emptyDatabase();
  const server = await startPartners();
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection });
  const pipeline = await openTemporal({ connection, taskQueue, confirmWithinMs });
  const partners = connectPartners({ baseUrl: server.url });
  const invoices = await openInvoices(database.url);
  const stops = new Set<() => Promise<void>>();

  async function startWorker(deployment?: Deployment): Promise<() => Promise<void>> {
    const workers = await startOrderWorkers({
      connection: native,
      namespace: 'default',
      taskQueue,
      rates: { ...defaultRates, ...rates },
      partners,
      invoices,
      workflows: { workflowBundle: await workflowBundle() },
      stickyTimeoutMs: 300,
      ...(deployment && { deployment }),
    });
    const stop = async () => {
      stops.delete(stop);
      await workers.stop();
    };
    stops.add(stop);
    return stop;
  }

  async function position(id: OrderId): Promise<Position> {
    const answer = await pipeline.where(id);
    if (answer.kind !== 'position') throw new Error(`where answered ${answer.kind}`);
    return answer.position;
  }

  const until = (id: OrderId, wanted: (position: Position) => boolean) =>
    untilPosition(() => position(id), wanted);

  if (worker) await startWorker();
  return {
    pipeline,
    client,
    partners: controlPartners(server.url),
    partnersUrl: server.url,
    databaseUrl: database.url,
    address,
    taskQueue,
    startWorker,
    until,
    position,
    async result(order, withinMs = LIMIT_MS) {
      // The client knows the workflow by its name only, so its result has no type of its own.
      const handle = client.workflow.getHandle(runIdOf(orderIdOf(order)));
      return (await client.withDeadline(Date.now() + withinMs, () => handle.result())) as RunResult;
    },
    async close() {
      await server.close();
      await Promise.all([...stops].map((stop) => stop()));
      await partners.close();
      await invoices.close();
      await native.close();
      await connection.close();
      await database.drop();
    },
  };
}
