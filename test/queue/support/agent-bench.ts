import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentPipeline, AgentPosition } from '../../../core/agent/contract.ts';
import { agentRunIdOf, requestIdOf } from '../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { shiftRun } from '../../../lab/time/queue.ts';
import { openQueueAgent } from '../../../queue/agent/open.ts';
import type { AgentSettings, RunningWorker, WorkerSettings } from '../../../queue/worker/start.ts';
import { aRequest, type RequestShape } from '../../support/requests.ts';
import { untilPosition } from '../../support/until.ts';
import { openBench } from './bench.ts';
import type { QueueBench } from './bench.ts';

export const CHAIRS = '40 office chairs under 200 euro each';

/** The real thing for runs of the agent: beside the orders, with a store of its own. */
export interface AgentBench {
  orders: QueueBench;
  agent: AgentPipeline;
  parts: AgentSettings;
  startWorker(changes?: Partial<WorkerSettings>): Promise<RunningWorker>;
  /** Asks, under a reference of its own, and says under which. */
  asked(words?: string, changes?: RequestShape): Promise<OrderId>;
  position(id: OrderId): Promise<AgentPosition>;
  until(id: OrderId, wanted: (position: AgentPosition) => boolean): Promise<AgentPosition>;
  ended(id: OrderId): Promise<AgentPosition>;
  /** Moves the run's clock. */
  shift(id: OrderId, ms: number): Promise<void>;
  /** How often the model has been paid for the run. */
  completions(id: OrderId): Promise<number>;
  close(): Promise<void>;
}

/** Within what needs nobody, and with time for the model on a busy machine. */
export function anAsk(words = CHAIRS, { limits, ...shape }: RequestShape = {}): AgentAsk {
  const patient = { approvalLimits: { EUR: '100000' }, modelTimeoutMs: 5_000, ...limits };
  return aRequest(words, { ...shape, limits: patient });
}

export async function openAgentBench({ workers = 1 } = {}): Promise<AgentBench> {
  const orders = await openBench({ workers: 0 });
  const storeDir = await mkdtemp(join(tmpdir(), 'q2t-store-'));
  const agent = await openQueueAgent({ databaseUrl: orders.databaseUrl, user: 'tester' });
  const baseUrl = `${orders.partnersUrl.replace(/\/$/, '')}/model/v1`;
  const parts = { concurrency: 4, storeDir, model: { baseUrl, apiKey: 'none' } };

  async function position(id: OrderId): Promise<AgentPosition> {
    const answer = await agent.where(id);
    if (answer.kind !== 'position') throw new Error(`where answered ${answer.kind}`);
    return answer.position;
  }
  const until: AgentBench['until'] = (id, wanted) => untilPosition(() => position(id), wanted);

  const bench: AgentBench = {
    orders,
    agent,
    parts,
    startWorker: (changes = {}) => orders.startWorker({ agents: parts, ...changes }),
    async asked(words, changes) {
      const asked = anAsk(words, changes);
      const answer = await agent.ask(asked);
      if (answer.kind !== 'started') throw new Error(`ask answered ${answer.kind}`);
      return requestIdOf(asked.request);
    },
    position,
    until,
    ended: (id) => until(id, ({ status }) => status === 'ended'),
    shift: (id, ms) => shiftRun(orders.pool, agentRunIdOf(id), ms),
    async completions(id) {
      return (await orders.partners.counts(businessKey(id))).completion;
    },
    async close() {
      await agent.close();
      await orders.close();
      await rm(storeDir, { recursive: true, force: true });
    },
  };
  for (let n = 0; n < workers; n += 1) await bench.startWorker();
  return bench;
}
