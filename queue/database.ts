import pg from 'pg';
import type { ClientBase, Pool, PoolClient } from 'pg';
import { isBehindPooler } from './transport/pooler.ts';

export interface PoolSettings {
  url: string;
  /** Shown in pg_stat_activity: which process is it that holds the lock? */
  applicationName: string;
  maxConnections?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  idleInTransactionTimeoutMs?: number;
}

/**
 * A pool whose every connection is bounded: a statement, a wait for a lock and a forgotten
 * transaction all end by themselves, because one old transaction keeps every dead row of the hot
 * tables alive. Behind PgBouncer these three must be in `ignore_startup_parameters`; statements are
 * not prepared there.
 */
export function openPool(settings: PoolSettings): Pool {
  let behindPooler: boolean | undefined;
  const pool = new pg.Pool({
    connectionString: settings.url,
    application_name: settings.applicationName,
    max: settings.maxConnections ?? 10,
    statement_timeout: settings.statementTimeoutMs ?? 30_000,
    // The server's limit does not reach us over a connection that is half-open: nothing would end the wait.
    query_timeout: (settings.statementTimeoutMs ?? 30_000) + 5_000,
    lock_timeout: settings.lockTimeoutMs ?? 10_000,
    // Shorter than the wait for a lock: a worker frozen between two statements must let go of its
    // run's row before those who wait for it give up. Our transactions are never idle by themselves.
    idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs ?? 6_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // The pool waits for the promise, which its type declarations don't say.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    async onConnect(client) {
      behindPooler ??= await isBehindPooler(client);
      if (behindPooler) dropStatementNames(client);
    },
  });
  // An idle connection that dies is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // One that dies between two statements of a transaction would end it too; the next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A pooler gives the next transaction a connection that has never seen the name of our statement. */
function dropStatementNames(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const unnamed = (config: unknown, ...rest: unknown[]): unknown =>
    typeof config === 'object' && config !== null && 'name' in config
      ? query({ ...config, name: undefined }, ...rest)
      : query(config, ...rest);
  // The six overloads of `query` pass through unchanged, which no single type can say.
  client.query = unnamed as typeof client.query;
}

const afterCommitHooks = new WeakMap<ClientBase, (() => void)[]>();

/**
 * Runs `work` in one transaction: commit when it returns, rollback when it throws. Hooks given to
 * `afterCommit` run after the commit, and not at all after a rollback.
 */
export async function withTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const hooks: (() => void)[] = [];
  afterCommitHooks.set(client, hooks);
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    for (const hook of hooks) hook();
    return result;
  } catch (error) {
    // A rollback that fails means a dead connection: it must not go back into the pool.
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure instanceof Error ? failure : new Error(String(failure));
    });
    throw error;
  } finally {
    afterCommitHooks.delete(client);
    client.release(broken);
  }
}

/**
 * Runs `hook` once what was written through `db` is committed: at once for a pool (each of its
 * statements commits by itself), after the commit for a client of `withTransaction`. Returns false
 * for a client whose transaction is managed elsewhere: nobody here can know when that commits.
 */
export function afterCommit(db: Pool | ClientBase, hook: () => void): boolean {
  if (db instanceof pg.Pool) {
    hook();
    return true;
  }
  const hooks = afterCommitHooks.get(db);
  hooks?.push(hook);
  return hooks !== undefined;
}
