import type { Pool } from 'pg';
import type { ListResult, RunFilter, RunSummary, WaitingFor } from '../../core/contract.ts';
import type { Outcome, Status, Step } from '../../core/steps.ts';
import { TOLD_STATUS, UNSERVED } from '../versions/unserved.ts';

const DEFAULT_LIMIT = 100;

interface ListRow {
  buyer_id: string;
  order_ref: string;
  step: Step;
  status: Status;
  unserved: boolean;
  outcome: Outcome | null;
  waiting_for: WaitingFor | null;
  started_at: Date;
  ended_at: Date | null;
}

/** Runs that match, newest first, at most `limit` (100 unless given). */
export async function list(pool: Pool, filter: RunFilter = {}): Promise<ListResult> {
  const { status, step, orderRef, buyerId, limit = DEFAULT_LIMIT } = filter;
  const { rows } = await pool.query<ListRow>(
    `SELECT buyer_id, order_ref, step, ${TOLD_STATUS} AS status, ${UNSERVED} AS unserved,
       outcome, waiting_for, started_at, ended_at
     FROM queue.run r
     WHERE ($1::text IS NULL OR ${TOLD_STATUS} = $1) AND ($2::text IS NULL OR step = $2)
       AND ($3::text IS NULL OR order_ref = $3) AND ($4::text IS NULL OR buyer_id = $4)
     ORDER BY started_at DESC, id LIMIT $5`,
    [status ?? null, step ?? null, orderRef ?? null, buyerId ?? null, limit],
  );
  return { kind: 'runs', runs: rows.map(summaryOf) };
}

function summaryOf(row: ListRow): RunSummary {
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
