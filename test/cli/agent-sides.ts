import type { PartnersControl } from '../../partners/control.ts';
import { openAgentBench as openQueueBench } from '../queue/support/agent-bench.ts';
import { openAgentBench as openTemporalBench } from '../support/agent-bench.ts';
import { q2tInside, type Ended } from './q2t.ts';
import type { SideName } from './sides.ts';

/** One implementation of the buying agent with a worker, and the command line pointed at it. */
export interface AgentSide {
  storeDir: string;
  partners: PartnersControl;
  /** `agent ARGS` in this process. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
  /** Any command. */
  runAny(args: readonly string[]): Promise<Ended>;
  close(): Promise<void>;
}

export async function openAgentSide(name: SideName): Promise<AgentSide> {
  const bench = await openBench(name);
  const { storeDir, partners } = bench;
  // The default is left out, as people do.
  const on = name === 'temporal' ? [] : ['--on', name];
  const runAny = (args: readonly string[], more = {}) => {
    return q2tInside([...args, ...on], { env: { ...bench.env, Q2T_STORE_DIR: storeDir, ...more } });
  };
  return {
    storeDir,
    partners,
    run: (args, more) => runAny(['agent', ...args], more),
    runAny,
    close: () => bench.close(),
  };
}

async function openBench(name: SideName) {
  if (name === 'temporal') {
    const bench = await openTemporalBench();
    const { address, taskQueue, storeDir, partners } = bench;
    const env = { TEMPORAL_ADDRESS: address, Q2T_TASK_QUEUE: taskQueue };
    return { env, storeDir, partners, close: () => bench.close() };
  }
  const bench = await openQueueBench();
  const { orders, parts } = bench;
  const env = { DATABASE_URL: orders.databaseUrl };
  const { partners } = orders;
  return { env, storeDir: parts.storeDir, partners, close: () => bench.close() };
}
