import { Client, Connection } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import type { Pipeline } from '../../core/contract.ts';
import { runIdOf } from '../../core/identity.ts';
import { defaultPolicy } from '../../core/policy.ts';
import { ORDER_TASK_QUEUE } from '../../workflows/search-attributes.ts';
import { cancel } from './temporal/cancel.ts';
import { deadLetters } from './temporal/dead-letters.ts';
import { decide } from './temporal/decide.ts';
import { ORDERS } from './temporal/kinds.ts';
import { list } from './temporal/list.ts';
import { reset } from './temporal/reset.ts';
import { submit } from './temporal/submit.ts';
import { versions } from './temporal/versions.ts';
import { where } from './temporal/where.ts';

export interface TemporalOptions {
  /** host:port. Short for `connection: { address }`. */
  address?: string;
  /** How to connect, or a connection that the caller keeps and closes. */
  connection?: ConnectionOptions | Connection;
  /** Default `default`. */
  namespace?: string;
  /** Default `orders`. */
  taskQueue?: string;
  /** How long an answer that needs a worker may take before it counts as not confirmed. Default 5 s. */
  confirmWithinMs?: number;
}

/**
 * The purchase order on Temporal. Connects, and throws within some seconds when nothing answers.
 * Methods throw what the SDK throws when the server is gone; what the contract names is returned.
 */
export async function openTemporal(options: TemporalOptions): Promise<Pipeline> {
  const { namespace = 'default', taskQueue = ORDER_TASK_QUEUE, confirmWithinMs = 5_000 } = options;
  const given = options.connection instanceof Connection ? options.connection : undefined;
  const connection = given ?? (await connect(options));
  const client = new Client({ connection, namespace });
  return {
    implementation: 'temporal',
    submit: (order, policy = defaultPolicy) => submit(client, taskQueue, order, policy),
    where: (id) => where(client, id),
    decide: (id, decision) => decide(client, confirmWithinMs, id, decision),
    cancel: (id, by, reason) => cancel(client, runIdOf(id), by, reason),
    list: ({ orderRef: ref, ...filter } = {}) => list(client, ORDERS, { ...filter, ref }),
    reset: (id, action) => reset(client, id, action),
    deadLetters: deadLetters(client, confirmWithinMs),
    versions: versions(client, namespace, taskQueue),
    // A connection that was given belongs to the giver.
    close: async () => {
      if (!given) await connection.close();
    },
  };
}

/** Connects as the options say; a connection that was given is taken as it is. */
export function connect({ address, connection }: TemporalOptions): Promise<Connection> {
  if (connection instanceof Connection) return Promise.resolve(connection);
  return Connection.connect({
    connectTimeout: '4s',
    ...(address === undefined ? {} : { address }),
    ...connection,
  });
}
