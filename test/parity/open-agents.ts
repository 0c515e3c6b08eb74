import { openFileStore } from '../../agent/store/files.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import { fastForward } from '../../lab/time/temporal.ts';
import { openAgentBench as openQueueBench } from '../queue/support/agent-bench.ts';
import { openAgentBench as openTemporalBench } from '../support/agent-bench.ts';
import { untilPosition } from '../support/until.ts';
import type { AgentSide } from './agent-side.ts';

export async function openQueueAgents(): Promise<AgentSide> {
  const bench = await openQueueBench();
  return {
    pipeline: bench.agent,
    orders: bench.orders.pipeline,
    partners: bench.orders.partners,
    store: () => openFileStore(bench.parts.storeDir),
    until: (id, wanted) => bench.until(id, wanted),
    untilOrder: (id, wanted) => bench.orders.until(id, wanted),
    forward: (id, ms) => bench.shift(id, ms),
    close: () => bench.close(),
  };
}

export async function openTemporalAgents(): Promise<AgentSide> {
  const bench = await openTemporalBench();
  return {
    pipeline: bench.agent,
    orders: bench.orders,
    partners: bench.partners,
    store: () => Promise.resolve(bench.store),
    until: (id, wanted) => bench.until(id, wanted),
    untilOrder: (id, wanted) =>
      untilPosition(async () => {
        const answer = await bench.orders.where(id);
        if (answer.kind !== 'position') throw new Error(`the order: ${answer.kind}`);
        return answer.position;
      }, wanted),
    async forward(id, ms) {
      await fastForward(bench.client, agentRunIdOf(id), ms);
    },
    close: () => bench.close(),
  };
}
