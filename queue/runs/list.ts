import type { Pool } from 'pg';
import type { ListResult, RunFilter, RunSummary, WaitingFor } from '../../core/contract.ts';
import type { AgentOutcome, AnyStep, Outcome, Status, Step } from '../../core/steps.ts';
import { TOLD_STATUS, UNSERVED } from '../versions/unserved.ts';
import type { RunKind } from './run.ts';

const DEFAULT_LIMIT = 100;

interface ListRow<S extends AnyStep, O extends AgentOutcome> {
  buyer_id: string;
  order_ref: string;
  step: S;
  status: Status;
  unserved: boolean;
  outcome: O | null;
  waiting_for: WaitingFor | null;
  started_at: Date;
  ended_at: Date | null;
}

/** Orders that match, newest first, at most `limit` (100 unless given). */
export async function list(pool: Pool, filter: RunFilter = {}): Promise<ListResult> {
  const { orderRef: ref, ...rest } = filter;
  const runs = await listRuns<Step, Outcome>(pool, 'order', {
    ...rest,
    ...(ref !== undefined && { ref }),
  });
  return { kind: 'runs', runs };
}

interface Filter {
  status?: Status;
  step?: AnyStep;
  ref?: string;
  buyerId?: string;
  limit?: number;
}

/** Runs of one kind. */
export async function listRuns<S extends AnyStep, O extends AgentOutcome>(
  pool: Pool,
  kind: RunKind,
  { status, step, ref, buyerId, limit = DEFAULT_LIMIT }: Filter,
): Promise<RunSummary<S, O>[]> {
  const { rows } = await pool.query<ListRow<S, O>>(
    `SELECT buyer_id, order_ref, step, ${TOLD_STATUS} AS status, ${UNSERVED} AS unserved,
       outcome, waiting_for, started_at, ended_at
     FROM queue.run r
     WHERE kind = '${kind}' AND ($1::text IS NULL OR ${TOLD_STATUS} = $1)
       AND ($2::text IS NULL OR step = $2)
       AND ($3::text IS NULL OR order_ref = $3) AND ($4::text IS NULL OR buyer_id = $4)
     ORDER BY started_at DESC, id LIMIT $5`,
    [status ?? null, step ?? null, ref ?? null, buyerId ?? null, limit],
  );
  return rows.map(summaryOf);
}

function summaryOf<S extends AnyStep, O extends AgentOutcome>(
  row: ListRow<S, O>,
): RunSummary<S, O> {
  const own = row.waiting_for && waitingWords(row.waiting_for);
  const waitingFor = row.unserved ? 'other code' : own;
  return {
    id: { buyerId: row.buyer_id, orderRef: row.order_ref },
    step: row.step,
    status: row.status,
    startedAt: row.started_at.toISOString(),
    ...(row.outcome && { outcome: row.outcome }),
    ...(waitingFor !== null && { waitingFor }),
    ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
  };
}

function waitingWords(waitingFor: WaitingFor): string {
  switch (waitingFor.kind) {
    case 'person':
      return waitingFor.who;
    case 'date':
      return waitingFor.what;
    case 'operator':
      return 'operator';
    default:
      return waitingFor satisfies never;
  }
}
