import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { openInvoices } from '../../activities/invoices.ts';
import { openFileStore } from '../../agent/store/files.ts';
import { openTemporal } from '../../client/pipelines/temporal.ts';
import { openTemporalAgent } from '../../client/pipelines/temporal/agent.ts';
import type { AgentPipeline, AgentPosition } from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { defaultAgentPolicy } from '../../core/agent/policy.ts';
import type { ClaimCheckStore } from '../../core/agent/store.ts';
import type { Pipeline } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import { connectPartners } from '../../partners/clients/connect.ts';
import { connectModel } from '../../partners/clients/model.ts';
import { controlPartners } from '../../partners/control.ts';
import type { PartnersControl } from '../../partners/control.ts';
import { startPartners } from '../../partners/server/server.ts';
import { startOrderWorkers } from '../../workers/order-workers.ts';
import { defaultRates } from '../../workers/rates.ts';
import type { AgentResult } from '../../workflows/agent/run.ts';
import { aRequest, type RequestShape } from './requests.ts';
import { emptyDatabase } from './postgres.ts';
import { temporalAddress, workflowBundle } from './temporal.ts';
import { untilPosition } from './until.ts';

/** Long enough on a machine that runs other tests as well; reached only when something is wrong. */
const LIMIT_MS = 240_000;

/** As the order's bench: the real thing, with a model and a store of its own besides. */
export interface AgentBench {
  agent: AgentPipeline;
  orders: Pipeline;
  client: Client;
  partners: PartnersControl;
  partnersUrl: string;
  databaseUrl: string;
  store: ClaimCheckStore;
  storeDir: string;
  address: string;
  taskQueue: string;
  /** Starts another worker on the bench's queue. Returns how to stop it. */
  startWorker(options?: BenchWorker): Promise<() => Promise<void>>;
  /** Polls until the run's position is as wanted. Throws, with the position, when it is not so in time. */
  until(id: OrderId, wanted: (position: AgentPosition) => boolean): Promise<AgentPosition>;
  position(id: OrderId): Promise<AgentPosition>;
  /** How the run ended, in whichever execution of its chain. */
  result(id: OrderId): Promise<AgentResult>;
  close(): Promise<void>;
}

interface BenchWorker {
  maxCachedWorkflows?: number;
  /** Default: the workflows as they are now. */
  bundle?: WorkflowBundleOption;
}

interface BenchOptions {
  /** Whether to start one. Default true. */
  worker?: boolean;
  /** Default: the run's own server. */
  address?: string;
}

export async function openAgentBench({
  worker = true,
  address: given,
}: BenchOptions = {}): Promise<AgentBench> {
  const address = given ?? (await temporalAddress());
  const taskQueue = `agents-${randomBytes(6).toString('hex')}`;
  const database = await emptyDatabase();
  const storeDir = await mkdtemp(join(tmpdir(), 'q2t-store-'));
  const server = await startPartners();
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection });
  const options = { connection, taskQueue, confirmWithinMs: 10_000 };
  const [agent, orders] = [await openTemporalAgent(options), await openTemporal(options)];
  const partners = connectPartners({ baseUrl: server.url });
  const model = connectModel({ baseUrl: `${server.url}/model/v1`, apiKey: 'none' });
  const store = await openFileStore(storeDir);
  const invoices = await openInvoices(database.url);
  const stops = new Set<() => Promise<void>>();

  async function startWorker({ maxCachedWorkflows, bundle }: BenchWorker = {}): Promise<
    () => Promise<void>
  > {
    const workers = await startOrderWorkers({
      connection: native,
      namespace: 'default',
      taskQueue,
      rates: { ...defaultRates, model: 100 },
      partners,
      invoices,
      agent: { model, store, orders },
      workflows: { workflowBundle: bundle ?? (await workflowBundle()) },
      stickyTimeoutMs: 300,
      ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
    });
    const stop = async () => {
      stops.delete(stop);
      await workers.stop();
    };
    stops.add(stop);
    return stop;
  }

  async function position(id: OrderId): Promise<AgentPosition> {
    const answer = await agent.where(id);
    if (answer.kind !== 'position') throw new Error(`where answered ${answer.kind}`);
    return answer.position;
  }

  if (worker) await startWorker();
  return {
    agent,
    orders,
    client,
    partners: controlPartners(server.url),
    partnersUrl: server.url,
    databaseUrl: database.url,
    store,
    storeDir,
    address,
    taskQueue,
    startWorker,
    position,
    until: (id, wanted) => untilPosition(() => position(id), wanted),
    async result(id) {
      const handle = client.workflow.getHandle(agentRunIdOf(id));
      const within = Date.now() + LIMIT_MS;
      return (await client.withDeadline(within, () => handle.result())) as AgentResult;
    },
    async close() {
      await server.close();
      await Promise.all([...stops].map((stop) => stop()));
      await Promise.all([partners.close(), model.close(), invoices.close()]);
      await native.close();
      await connection.close();
      await database.drop();
      await rm(storeDir, { recursive: true });
    },
  };
}

/** What is asked for unless a test says otherwise: below the limit above which a person must approve. */
export const REQUEST = '4 office chairs under 200 euro each, delivered in Utrecht';

/** With the default limits, and time for the model on a busy machine. */
export function anAsk(words = REQUEST, { limits, ...shape }: RequestShape = {}): AgentAsk {
  const { approvalLimits } = defaultAgentPolicy;
  return aRequest(words, {
    ...shape,
    limits: { approvalLimits, modelTimeoutMs: 10_000, ...limits },
  });
}
