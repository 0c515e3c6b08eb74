import pg from 'pg';
import type { ClientBase } from 'pg';
import { RUN_COLUMNS } from './run.ts';
import type { RunRow } from './run.ts';

/** A run's row as whoever wants its lease finds it. */
export interface LockedRun extends RunRow {
  token: string;
  wake_seq: string;
  seen_seq: string;
  lease_until: Date | null;
  message_id: string | null;
  held: boolean | null;
  held_ms: number | null;
  due: boolean | null;
  now: Date;
}

const LOCK = `
  SELECT ${RUN_COLUMNS}, token, wake_seq, seen_seq, lease_until, message_id,
    lease_until > statement_timestamp() AS held,
    extract(epoch FROM lease_until - statement_timestamp())::float8 * 1000 AS held_ms,
    next_attempt_at <= statement_timestamp() AS due,
    statement_timestamp() AS now
  FROM queue.run WHERE id = $1
  FOR NO KEY UPDATE`;

/** Locks a run's row and reads it, by the clock of the database; undefined when there is no such run. */
export async function lockRun(tx: ClientBase, runId: string): Promise<LockedRun | undefined> {
  const { rows } = await tx.query<LockedRun>({ name: 'run-lock', text: LOCK, values: [runId] });
  return rows[0];
}

/** How long a message in hand waits for its run's row. A transition, or a child that ends, takes a few ms. */
const LONGEST_WAIT_MS = 1_000;

/**
 * The same for whoever holds a message meanwhile: waits no longer than half of what is left of its
 * visibility. Should the one that has the row locked be frozen, the message would otherwise be handed
 * out again and again, each receive counted, and be buried although its run is well. Throws what
 * `isLockTimeout` knows.
 */
export async function lockRunInTime(
  tx: ClientBase,
  runId: string,
  visibleAgainAt: Date,
): Promise<LockedRun | undefined> {
  const { rows } = await tx.query<LockedRun>({
    name: 'run-try-lock',
    text: `${LOCK} SKIP LOCKED`,
    values: [runId],
  });
  if (rows[0]) return rows[0];
  await tx.query(
    `SELECT set_config('lock_timeout', greatest(1, least($1,
       extract(epoch FROM $2 - statement_timestamp()) * 500))::int::text, true)`,
    [LONGEST_WAIT_MS, visibleAgainAt],
  );
  return lockRun(tx, runId);
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}
