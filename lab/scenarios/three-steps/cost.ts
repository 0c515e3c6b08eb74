import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { projectRoot } from '../../../stack/runtime.mjs';

/** Lines that are not empty, of all files that the patterns match. */
export async function linesOf(...patterns: readonly string[]): Promise<number> {
  let lines = 0;
  for await (const file of glob(patterns, { cwd: projectRoot })) {
    const text = await readFile(join(projectRoot, file), 'utf8');
    lines += text.split('\n').filter((line) => line.trim() !== '').length;
  }
  return lines;
}

/** What a database has been asked for since it was made; complete once its clients have gone. */
export interface Work {
  commits: number;
  rows: number;
}

export async function workOf(databaseUrl: string): Promise<Work> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Work>(
      `SELECT xact_commit::int AS commits,
         (tup_inserted + tup_updated + tup_deleted)::int AS rows
       FROM pg_stat_database WHERE datname = current_database()`,
    );
    const [work] = rows;
    if (!work) throw new Error('a database without statistics');
    return work;
  } finally {
    await client.end();
  }
}
