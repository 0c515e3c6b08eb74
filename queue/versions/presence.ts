import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Engine } from '../runs/engine.ts';
import { repeat } from '../worker/repeat.ts';

const BEAT_MS = 5_000;

/** A worker that was not seen for so long is no longer counted on. Three beats. */
export const LIVE_MS = 3 * BEAT_MS;

/** SQL: whether worker `w` runs, as far as anybody can know. */
export const LIVE = `(w.stopped_at IS NULL
  AND w.seen_at > statement_timestamp() - interval '${LIVE_MS} ms')`;

/** Says that this worker is there and which versions it has. Returns what it is known by from now on. */
export async function arrive(engine: Engine): Promise<string> {
  const id = randomUUID();
  await beat(engine, id);
  return id;
}

/**
 * Says so again every few seconds, until the worker drains. Nothing is decided by it: a lease tells who
 * may work on a run, this only tells people who is there.
 */
export async function stayPresent(engine: Engine, id: string): Promise<void> {
  const { pool, log, draining: stop } = engine;
  await repeat('presence', BEAT_MS, { stop, log }, async () => {
    await beat(engine, id);
    return 'done';
  });
  await pool
    .query('UPDATE queue.worker SET stopped_at = statement_timestamp() WHERE id = $1', [id])
    .catch((error: unknown) => log.warn({ err: error }, 'this worker is taken for lost'));
}

async function beat({ pool, worker, pipelines }: Engine, id: string): Promise<void> {
  await pool.query({
    name: 'worker-presence',
    text: `
      INSERT INTO queue.worker (id, name, versions) VALUES ($1, $2, $3)
      ON CONFLICT (id) DO UPDATE SET seen_at = statement_timestamp()`,
    values: [id, worker, pipelines.versions],
  });
}

/** Forgets the workers that were not seen for `olderThanMs`. Returns how many. */
export async function pruneWorkers(pool: Pool, olderThanMs: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM queue.worker WHERE seen_at < statement_timestamp() - $1 * interval '1 ms'`,
    [olderThanMs],
  );
  return rowCount ?? 0;
}
