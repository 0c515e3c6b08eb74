import type { Pool } from 'pg';
import type { Position, WhereResult } from '../../core/contract.ts';
import type { HistoryEntry, HistoryEvent } from '../../core/history.ts';
import { businessKey, effectKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { readJoin } from '../joins/read-join.ts';
import { UNSERVED, UNSERVED_SINCE, unservedSince } from '../versions/unserved.ts';
import { RUN_COLUMNS, toRun } from './run.ts';
import type { Run, RunRow } from './run.ts';

interface WhereRow extends RunRow {
  since: Date;
  /** Since when no worker has its version; null while one has. */
  unserved_since: Date | null;
  started_at: Date;
  ended_at: Date | null;
  history_cut: number | null;
  /** Times as JSON has them. */
  history: { at: string; event: HistoryEvent }[];
}

/**
 * Where a run is, read by key: no worker, no message is asked. Position and history come from one
 * statement, so from one moment: a history that is ahead of its position would be a riddle.
 */
export async function where(pool: Pool, id: OrderId): Promise<WhereResult> {
  const runId = businessKey(id);
  const { rows } = await pool.query<WhereRow>(
    `SELECT ${RUN_COLUMNS}, since, CASE WHEN ${UNSERVED} THEN ${UNSERVED_SINCE} END AS unserved_since,
       started_at, ended_at, history_cut, (
       SELECT coalesce(jsonb_agg(jsonb_build_object('at', h.at, 'event', h.event) ORDER BY h.id), '[]')
       FROM queue.run_history h WHERE h.run_id = r.id
     ) AS history
     FROM queue.run r WHERE r.id = $1`,
    [runId],
  );
  const [row] = rows;
  if (!row) return { kind: 'not-found' };
  const run = toRun(row);
  const stalled = row.unserved_since && unservedSince(run.version, row.unserved_since);
  const progress = await progressOf(pool, id, run);
  const position: Position = {
    id,
    implementation: 'queue',
    step: run.step,
    // A run that nobody can work on is stuck, whatever it was doing.
    status: stalled ? 'stuck' : run.status,
    attempts: inProgress(run) ? run.attempts : 0,
    since: row.since.toISOString(),
    startedAt: row.started_at.toISOString(),
    revision: run.revision,
    version: run.version,
    history: row.history.map(entryOf),
    ...(run.outcome && { outcome: run.outcome }),
    ...(run.status === 'ended' && run.reason !== null && { reason: run.reason }),
    ...(run.waitingFor && { waitingFor: run.waitingFor }),
    ...(stalled && { stalled }),
    ...(run.lastFailure !== null && inProgress(run) && { lastFailure: run.lastFailure }),
    ...(run.nextAttemptAt &&
      run.parkedFor === 'retry' && { nextAttemptAt: run.nextAttemptAt.toISOString() }),
    ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
    ...(row.history_cut && { historyCut: row.history_cut }),
    ...(progress !== undefined && { progress }),
  };
  return { kind: 'position', position };
}

function inProgress({ status }: Run): boolean {
  return status !== 'ended' && status !== 'waiting';
}

function entryOf({ at, event }: WhereRow['history'][number]): HistoryEntry {
  return { at: new Date(at).toISOString(), ...event };
}

async function progressOf(pool: Pool, id: OrderId, run: Run): Promise<string | undefined> {
  if (run.step !== 'price' || run.status === 'ended') return undefined;
  const joinId = effectKey(id, { revision: run.revision, step: 'price' });
  const join = await readJoin(pool, joinId);
  return join && `${join.done} of ${join.total} lines priced`;
}
