import type { ClientBase } from 'pg';

/**
 * True when somebody stands between this connection and Postgres: a pooler makes up a process id of
 * its own for the client, which is not the one of the backend that runs the statement.
 */
export async function isBehindPooler(client: ClientBase): Promise<boolean> {
  // Set by node-postgres from BackendKeyData; its type declarations don't have it.
  const announced: unknown = 'processID' in client ? client.processID : undefined;
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return announced !== rows[0]?.pid;
}
