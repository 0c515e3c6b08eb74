import { agentRunIdOf } from '../../core/agent/identity.ts';
import type { Implementation } from '../../core/contract.ts';
import { businessKey, runIdOf, type OrderId } from '../../core/identity.ts';
import { linkAmong, onlyOf, runAmong } from '../wire/postgres/naming.ts';
import { startPostgresProxy } from '../wire/postgres/proxy.ts';
import { startTemporalProxy, type TemporalProxy } from '../wire/temporal/proxy.ts';
import type { WorldWire } from './world.ts';

/** Statements that say no more than "I am alive": a boundary must be the same in every run. */
const HEARTBEATS = ['q2t_extend', 'run-fence', 'child-fence', 'worker-presence'];

/** A world's workers on a proxied way to their server. */
export interface Wiring {
  wire: WorldWire;
  temporalWire: TemporalProxy | undefined;
  /** Returns what the wire calls the order's run. */
  watch(id: OrderId): string;
  /** The same for the run of a request. */
  watchAgent(id: OrderId): string;
  /** Environment for a worker, by the name under which the wire knows a client of Postgres. */
  env(client: string): NodeJS.ProcessEnv;
}

export async function wireUp(
  implementation: Implementation,
  { address, databaseUrl }: { address: string; databaseUrl: string },
): Promise<Wiring> {
  if (implementation === 'temporal') {
    const wire = await startTemporalProxy({ upstream: address });
    const env = () => ({ TEMPORAL_ADDRESS: wire.address });
    // The calls themselves say which workflow they are about.
    return { wire, temporalWire: wire, watch: runIdOf, watchAgent: agentRunIdOf, env };
  }
  const runs = new Set<string>();
  const references = new Map<string, string>();
  const watch = (id: OrderId) => {
    const run = businessKey(id);
    runs.add(run);
    references.set(id.orderRef, run);
    return run;
  };
  const watchAgent = (id: OrderId) => {
    const run = agentRunIdOf(id);
    runs.add(run);
    references.set(id.orderRef, run);
    return run;
  };
  const { hostname: host, port } = new URL(databaseUrl);
  const wire = await startPostgresProxy({
    upstream: { host, port: Number(port) },
    runOf: implementation === 'chain' ? linkAmong(references) : runAmong(runs),
    ignore: onlyOf(HEARTBEATS),
  });
  const env = (client: string) => ({ DATABASE_URL: wire.url(databaseUrl, client) });
  return { wire, temporalWire: undefined, watch, watchAgent, env };
}
