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

/** Locks a run's row and reads it, by the clock of the database; undefined when there is no such run. */
export async function lockRun(tx: ClientBase, runId: string): Promise<LockedRun | undefined> {
  const { rows } = await tx.query<LockedRun>({
    name: 'run-lock',
    text: `
      SELECT ${RUN_COLUMNS}, token, wake_seq, seen_seq, lease_until, message_id,
        lease_until > statement_timestamp() AS held,
        extract(epoch FROM lease_until - statement_timestamp())::float8 * 1000 AS held_ms,
        next_attempt_at <= statement_timestamp() AS due,
        statement_timestamp() AS now
      FROM queue.run WHERE id = $1
      FOR NO KEY UPDATE`,
    values: [runId],
  });
  return rows[0];
}
