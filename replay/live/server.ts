import { Client, Connection } from '@temporalio/client';
import { messageOf } from '../../client/errors.ts';
import { describeTarget, resolveTarget } from '../../client/target.ts';

export interface Server {
  client: Client;
  /** Of the project's workers. */
  taskQueue: string;
  /** Which server that is, without its secrets. */
  described: string;
}

/** Lends a client of the user's server to `work`. Throws when there is none, or none that answers. */
export async function withServer<T>(work: (server: Server) => Promise<T>): Promise<T> {
  const target = resolveTarget('temporal');
  if (target.kind !== 'temporal') throw new TypeError('Temporal is no database');
  const { temporal, taskQueue } = target;
  const { address, namespace, options } = temporal;
  const connection = await Connection.connect({ connectTimeout: '4s', ...options }).catch(
    (error: unknown) => {
      throw new Error(`Temporal can't be reached at ${address} (${messageOf(error)})`, {
        cause: error,
      });
    },
  );
  try {
    const client = new Client({ connection, namespace });
    return await work({ client, taskQueue, described: describeTarget(target) });
  } finally {
    await connection.close();
  }
}

/** Open runs, in the words of visibility: the user's choice of them, or those of our task queue. */
export function openRuns({ taskQueue }: Server, query: string | undefined): string {
  const which = query === undefined ? `TaskQueue = ${quoted(taskQueue)}` : `(${query})`;
  return `ExecutionStatus = 'Running' AND ${which}`;
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
