import { openAgentBench } from '../queue/support/agent-bench.ts';
import type { PartnersControl } from '../../partners/control.ts';
import { q2tInside, type Ended } from './q2t.ts';

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

export const AGENT_SIDES = ['queue'] as const;

export async function openAgentSide(name: (typeof AGENT_SIDES)[number]): Promise<AgentSide> {
  const { env, storeDir, partners, close } = await openBench();
  const on = ['--on', name];
  const runAny = (args: readonly string[], more = {}) => {
    return q2tInside([...args, ...on], { env: { ...env, Q2T_STORE_DIR: storeDir, ...more } });
  };
  return {
    storeDir,
    partners,
    run: (args, more) => runAny(['agent', ...args], more),
    runAny,
    close,
  };
}

async function openBench() {
  const { orders, parts, close } = await openAgentBench();
  const env = { DATABASE_URL: orders.databaseUrl };
  return { env, storeDir: parts.storeDir, partners: orders.partners, close };
}
