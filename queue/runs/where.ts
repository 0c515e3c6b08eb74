import type { Pool } from 'pg';
import type { Position, RunPosition, WhereResult } from '../../core/contract.ts';
import type { HistoryEntry, HistoryEvent } from '../../core/history.ts';
import { businessKey, effectKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { AgentOutcome, AnyStep, Outcome, Step } from '../../core/steps.ts';
import { readJoin } from '../joins/read-join.ts';
import { UNSERVED, UNSERVED_SINCE, unservedSince } from '../versions/unserved.ts';
import { RUN_COLUMNS } from './run.ts';
import type { RunRow } from './run.ts';

interface WhereRow<S extends AnyStep, O extends AgentOutcome> extends RunRow<S, O> {
  since: Date;
  /** Since when no worker has its version; null while one has. */
  unserved_since: Date | null;
  started_at: Date;
  ended_at: Date | null;
  history_cut: number | null;
  /** Times as JSON has them. */
  history: { at: string; event: HistoryEvent }[];
}

/** Where an order's run is, read by key: no worker, no message is asked. */
export async function where(pool: Pool, id: OrderId): Promise<WhereResult> {
  const row = await readPosition<Step, Outcome>(pool, businessKey(id));
  if (!row) return { kind: 'not-found' };
  const progress = await progressOf(pool, id, row);
  const position: Position = {
    ...positionOf(id, row),
    revision: row.revision,
    ...(progress !== undefined && { progress }),
  };
  return { kind: 'position', position };
}

/** Position and history come from one statement, so from one moment: a history that is ahead of its position would be a riddle. */
export async function readPosition<S extends AnyStep, O extends AgentOutcome>(
  pool: Pool,
  runId: string,
): Promise<WhereRow<S, O> | undefined> {
  const { rows } = await pool.query<WhereRow<S, O>>(
    `SELECT ${RUN_COLUMNS}, since, CASE WHEN ${UNSERVED} THEN ${UNSERVED_SINCE} END AS unserved_since,
       started_at, ended_at, history_cut, (
       SELECT coalesce(jsonb_agg(jsonb_build_object('at', h.at, 'event', h.event) ORDER BY h.id), '[]')
       FROM queue.run_history h WHERE h.run_id = r.id
     ) AS history
     FROM queue.run r WHERE r.id = $1`,
    [runId],
  );
  return rows[0];
}

/** What runs of both kinds have to say of where they are. */
export function positionOf<S extends AnyStep, O extends AgentOutcome>(
  id: OrderId,
  row: WhereRow<S, O>,
): RunPosition<S, O> {
  const stalled = row.unserved_since && unservedSince(row.version, row.unserved_since);
  const inProgress = row.status !== 'ended' && row.status !== 'waiting';
  const retrying = row.parked_for === 'retry';
  return {
    id,
    implementation: 'queue',
    step: row.step,
    // A run that nobody can work on is stuck, whatever it was doing.
    status: stalled ? 'stuck' : row.status,
    attempts: inProgress ? row.attempts : 0,
    since: row.since.toISOString(),
    startedAt: row.started_at.toISOString(),
    version: row.version,
    history: row.history.map(entryOf),
    ...(row.outcome && { outcome: row.outcome }),
    ...(row.status === 'ended' && row.reason !== null && { reason: row.reason }),
    ...(row.waiting_for && { waitingFor: row.waiting_for }),
    ...(stalled && { stalled }),
    ...(row.last_failure !== null && inProgress && { lastFailure: row.last_failure }),
    ...(row.next_attempt_at && retrying && { nextAttemptAt: row.next_attempt_at.toISOString() }),
    ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
    ...(row.history_cut && { historyCut: row.history_cut }),
  };
}

function entryOf({ at, event }: { at: string; event: HistoryEvent }): HistoryEntry {
  return { at: new Date(at).toISOString(), ...event };
}

async function progressOf(
  pool: Pool,
  id: OrderId,
  { step, status, revision }: RunRow,
): Promise<string | undefined> {
  if (step !== 'price' || status === 'ended') return undefined;
  const joinId = effectKey(id, { revision, step: 'price' });
  const join = await readJoin(pool, joinId);
  return join && `${join.done} of ${join.total} lines priced`;
}
