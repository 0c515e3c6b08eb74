import type { TestContext } from 'node:test';
import pg from 'pg';
import { runAmong } from '../../../../lab/wire/postgres/naming.ts';
import { startPostgresProxy } from '../../../../lab/wire/postgres/proxy.ts';
import type { PostgresProxy, PostgresProxyOptions } from '../../../../lab/wire/postgres/proxy.ts';
import { emptyDatabase, postgresUrl } from '../../../support/postgres.ts';
import { RUN, RUNS } from './steps.ts';

export interface Wired {
  proxy: PostgresProxy;
  /** Straight to the server: sees what is really there. */
  direct: pg.Client;
  directUrl: string;
  /** A client through the proxy, closed at the end of the test. */
  client: (name?: string) => Promise<pg.Client>;
}

// Asked for before any test runs: a server of this file's own then lives as long as the file.
await postgresUrl();

/** An empty database with a small table, and a proxy before it. Everything ends with the test. */
export async function wired(
  t: TestContext,
  options: Partial<PostgresProxyOptions> = {},
): Promise<Wired> {
  const database = await emptyDatabase();
  const { hostname, port } = new URL(database.url);
  const proxy = await startPostgresProxy({
    upstream: { host: hostname, port: Number(port) },
    runOf: runAmong(new Set([RUN, ...RUNS])),
    ...options,
  });
  const clients: pg.Client[] = [];
  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    // A connection that a fault cuts must not end the test's process.
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  t.after(async () => {
    await proxy.close();
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    await database.drop();
  });
  const direct = await connect(database.url);
  await direct.query(`
    CREATE TABLE run (id text PRIMARY KEY, step int NOT NULL DEFAULT 0);
    CREATE TABLE history (id serial PRIMARY KEY, run text, what text);
    CREATE TABLE message (id serial PRIMARY KEY, body jsonb, claimed bool NOT NULL DEFAULT false);
    INSERT INTO run VALUES ('${RUN}')`);
  return {
    proxy,
    direct,
    directUrl: database.url,
    client: (name = 'worker') => connect(proxy.url(database.url, name)),
  };
}
