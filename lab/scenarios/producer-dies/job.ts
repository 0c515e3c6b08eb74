import type { Implementation } from '../../../core/contract.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Policy } from '../../../core/policy.ts';

/** What a producer process is asked to do, in its environment as JSON. */
export interface ProducerJob {
  on: Implementation;
  /**
   * - `publish`: commits its row, then publishes. What a first version does.
   * - `same-transaction`: the message is written with the row (chain and queue).
   * - `outbox`: a note "still to be started" is written with the row; a relay starts what the notes say
   *   and strikes them out afterwards. For what lives outside the database, as an engine does.
   */
  way: 'publish' | 'same-transaction' | 'outbox';
  /** None: only what is noted from before. */
  request?: { order: Order; policy: Policy };
  databaseUrl: string;
  /** Where chain and queue are opened: past the wire, so that only the shop's own commits are on it. */
  pipelineUrl: string;
  temporal: { address: string; namespace: string; taskQueue: string };
}

export const PRODUCER_TABLES = `
  CREATE TABLE IF NOT EXISTS request (order_ref text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS to_start (order_ref text PRIMARY KEY, request json NOT NULL)`;
