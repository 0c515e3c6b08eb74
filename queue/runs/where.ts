import type { Pool } from 'pg';
import type { Position, WhereResult } from '../../core/contract.ts';
import type { HistoryEntry, HistoryEvent } from '../../core/history.ts';
import { businessKey, effectKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { readJoin } from '../joins/read-join.ts';
import { RUN_COLUMNS, toRun } from './run.ts';
import type { Run, RunRow } from './run.ts';

interface WhereRow extends RunRow {
  since: Date;
  started_at: Date;
  ended_at: Date | null;
}

/** Where a run is. Two or three reads of rows by key: no worker, no message is asked. */
export async function where(pool: Pool, id: OrderId): Promise<WhereResult> {
  const runId = businessKey(id);
  const { rows } = await pool.query<WhereRow>(
    `SELECT ${RUN_COLUMNS}, since, started_at, ended_at FROM queue.run WHERE id = $1`,
    [runId],
  );
  const [row] = rows;
  if (!row) return { kind: 'not-found' };
  const run = toRun(row);
  const progress = await progressOf(pool, id, run);
  const position: Position = {
    id,
    implementation: 'queue',
    step: run.step,
    status: run.status,
    attempts: inProgress(run) ? run.attempts : 0,
    since: row.since.toISOString(),
    startedAt: row.started_at.toISOString(),
    revision: run.revision,
    version: run.version,
    history: await readHistory(pool, runId),
    ...(run.outcome && { outcome: run.outcome }),
    ...(run.status === 'ended' && run.reason !== null && { reason: run.reason }),
    ...(run.waitingFor && { waitingFor: run.waitingFor }),
    ...(run.lastFailure !== null && inProgress(run) && { lastFailure: run.lastFailure }),
    ...(run.nextAttemptAt &&
      run.parkedFor === 'retry' && { nextAttemptAt: run.nextAttemptAt.toISOString() }),
    ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
    ...(progress !== undefined && { progress }),
  };
  return { kind: 'position', position };
}

function inProgress({ status }: Run): boolean {
  return status !== 'ended' && status !== 'waiting';
}

async function readHistory(pool: Pool, runId: string): Promise<HistoryEntry[]> {
  const { rows } = await pool.query<{ at: Date; event: HistoryEvent }>(
    'SELECT at, event FROM queue.run_history WHERE run_id = $1 ORDER BY id',
    [runId],
  );
  return rows.map(({ at, event }) => ({ at: at.toISOString(), ...event }));
}

async function progressOf(pool: Pool, id: OrderId, run: Run): Promise<string | undefined> {
  if (run.step !== 'price' || run.status === 'ended') return undefined;
  const joinId = effectKey(id, { revision: run.revision, step: 'price' });
  const join = await readJoin(pool, joinId);
  return join && `${join.done} of ${join.total} lines priced`;
}
