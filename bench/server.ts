import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Database } from '../stack/databases.ts';
import { startPostgres } from '../stack/postgres.ts';

export interface BenchServer {
  /** Of the server's own database, not of one to measure in. */
  url: string;
  createDatabase(): Promise<Database>;
  stop(): Promise<void>;
}

/** A Postgres of the bench's own, with its defaults for durability, gone afterwards. */
export async function startServer(): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'q2t-bench-'));
  const postgres = await startPostgres({ dataDir });
  const url = postgres.urlOf('postgres');
  return {
    url,
    createDatabase: () => createDatabase(url),
    async stop() {
      await postgres.process.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
