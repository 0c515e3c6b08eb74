import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { ClaimCheckStore } from '../../core/agent/store.ts';
import type { Model, Partners } from '../../partners/contract.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { OpenTransport } from '../transport/open.ts';
import type { Suspects } from './suspects.ts';
import type { Pipelines } from '../steps/pipelines.ts';

/** What the buying agent needs besides. */
export interface AgentParts {
  model: Model;
  store: ClaimCheckStore;
}

/** What the parts of one worker process share. */
export interface Engine {
  pool: Pool;
  transport: OpenTransport;
  partners: Partners;
  pipelines: Pipelines;
  /** Absent in a worker that leaves the agent's runs alone. */
  agent?: AgentParts | undefined;
  log: Logger;
  metrics: Metrics;
  /** Names this process in leases and evidence. For people: nothing is decided by it. */
  worker: string;
  /** Aborts when the worker shuts down: holders hand their runs back at the next boundary. */
  draining: AbortSignal;
  suspects: Suspects;
  random: () => number;
}
