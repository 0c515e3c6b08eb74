import type { Position } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import { openAgentBench as openQueueBench } from '../queue/support/agent-bench.ts';
import type { AgentSide } from './agent-side.ts';

export async function openQueueAgents(): Promise<AgentSide> {
  const bench = await openQueueBench();
  return {
    pipeline: bench.agent,
    partners: bench.orders.partners,
    until: (id, wanted) => bench.until(id, wanted),
    untilOrder: (id: OrderId, wanted: (position: Position) => boolean) =>
      bench.orders.until(id, wanted),
    forward: (id, ms) => bench.shift(id, ms),
    close: () => bench.close(),
  };
}
