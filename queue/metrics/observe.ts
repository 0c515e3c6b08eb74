import type { Pool } from 'pg';
import { countDoubleEffects } from '../ledger/evidence.ts';
import type { QueueCounts, Transport } from '../transport/contract.ts';

import { UNSERVED } from '../versions/unserved.ts';

export const WATCHED_QUEUES = ['orders', 'agents', 'lines', 'mail'] as const;

/** What the database knows about the whole system, whichever worker is asked. Ages in seconds. */
export interface Observation {
  queues: Record<(typeof WATCHED_QUEUES)[number], QueueCounts>;
  runs: Record<string, number>;
  startedLastMinute: number;
  endedLastMinute: number;
  /** Runs with something to do whose version no live worker has. */
  unservedRuns: number;
  openDeadLetters: number;
  /** Effects proven to have happened twice, by stale workers' evidence. */
  doubleEffects: number;
  /** Keys on which a partner's statement and the ledger disagree. */
  disagreements: number;
  /** Null: the canary has never been seen among the dead. */
  canaryAgeS: number | null;
  /** Null: nobody has ever looked at the dead letters. */
  lastLookAgeS: number | null;
  lastLookBy: string | null;
  lateTimers: number;
}

/** Reads it all: for a page or a scrape every few seconds. */
export async function observe(pool: Pool, transport: Transport): Promise<Observation> {
  const [orders, agents, lines, mail] = await Promise.all(
    WATCHED_QUEUES.map((queue) => transport.counts(queue)),
  );
  if (!orders || !agents || !lines || !mail) throw new Error('a queue without counts');
  return {
    queues: { orders, agents, lines, mail },
    runs: await runsByStatus(pool),
    ...(await readSums(pool)),
    doubleEffects: await countDoubleEffects(pool),
  };
}

async function runsByStatus(pool: Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ status: string; n: number }>(
    `SELECT status, count(*)::int AS n FROM queue.run WHERE ended_at IS NULL GROUP BY status`,
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

type Sums = Omit<Observation, 'queues' | 'runs' | 'doubleEffects'>;

async function readSums(pool: Pool): Promise<Sums> {
  const { rows } = await pool.query<Sums>(`
    SELECT
      (SELECT count(*)::int FROM queue.run
        WHERE started_at > statement_timestamp() - interval '1 minute') AS "startedLastMinute",
      (SELECT count(*)::int FROM queue.run
        WHERE ended_at > statement_timestamp() - interval '1 minute'
          AND history_cut IS NULL) AS "endedLastMinute",
      (SELECT count(*)::int FROM queue.run r
        WHERE ended_at IS NULL AND ${UNSERVED}) AS "unservedRuns",
      (SELECT count(*)::int FROM queue.dead_letter WHERE resolved_at IS NULL) AS "openDeadLetters",
      (SELECT count(*)::int FROM queue.disagreement) AS disagreements,
      (SELECT extract(epoch FROM statement_timestamp() - seen_at)::float8
        FROM queue.canary WHERE name = 'dead-letters') AS "canaryAgeS",
      (SELECT extract(epoch FROM statement_timestamp() - at)::float8
        FROM queue.last_look WHERE what = 'dead-letters') AS "lastLookAgeS",
      (SELECT by FROM queue.last_look WHERE what = 'dead-letters') AS "lastLookBy",
      (SELECT count(*)::int FROM queue.timer WHERE fired_at IS NULL
        AND due_at < statement_timestamp() - interval '1 minute') AS "lateTimers"`);
  const [row] = rows;
  if (!row) throw new Error('no sums');
  return row;
}
