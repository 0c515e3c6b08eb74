import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Partners } from '../../partners/contract.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { OpenTransport } from '../transport/open.ts';
import type { Suspects } from './suspects.ts';
import type { Pipelines } from '../steps/pipelines.ts';

/** What the parts of one worker process share. */
export interface Engine {
  pool: Pool;
  transport: OpenTransport;
  partners: Partners;
  pipelines: Pipelines;
  log: Logger;
  metrics: Metrics;
  /** Names this process in leases and evidence. For people: nothing is decided by it. */
  worker: string;
  /** Aborts when the worker shuts down: holders hand their runs back at the next boundary. */
  draining: AbortSignal;
  suspects: Suspects;
  random: () => number;
}
