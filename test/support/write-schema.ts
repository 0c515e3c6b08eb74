import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DUMP_FILE, dumpSchema } from '../../queue/migrations/dump.ts';
import { migrate } from '../../queue/migrations/migrate.ts';
import { startPostgres } from '../../stack/postgres.ts';

// `npm run schema`: the migrations on a Postgres of their own, and what they add up to.
const dataDir = await mkdtemp(join(tmpdir(), 'q2t-schema-'));
const postgres = await startPostgres({ dataDir });
try {
  const url = postgres.urlOf('postgres');
  await migrate(url);
  await writeFile(DUMP_FILE, await dumpSchema(url));
  console.log(`wrote ${DUMP_FILE}`);
} finally {
  await postgres.process.stop();
  await rm(dataDir, { recursive: true, force: true });
}
