import type { Pool } from 'pg';
import type { DeadLetter } from '../../core/contract.ts';
import type { AnyStep } from '../../core/steps.ts';
import type { RunKind } from '../runs/run.ts';

/** Attempts shown per dead letter: the newest. */
const ATTEMPTS_SHOWN = 20;

interface DeadLetterRow {
  buyer_id: string;
  order_ref: string;
  step: AnyStep;
  at: Date;
  reason: string;
  attempts: { at: string; failureClass: string; message: string }[] | null;
}

/** Runs of a kind that wait for an operator, longest first, each with the attempts that led there. */
async function listDeadLetters(pool: Pool, kind: RunKind): Promise<DeadLetter[]> {
  const { rows } = await pool.query<DeadLetterRow>(
    `SELECT r.buyer_id, r.order_ref, d.step, d.at, d.reason, a.attempts
     FROM queue.dead_letter d JOIN queue.run r ON r.id = d.run_id
     LEFT JOIN LATERAL (
       SELECT jsonb_agg(jsonb_build_object('at', at, 'failureClass', failure_class,
           'message', message) ORDER BY id) AS attempts
       FROM (
         SELECT id, at, failure_class, message FROM queue.run_attempt
         WHERE run_id = d.run_id ORDER BY id DESC LIMIT $1
       ) AS newest
     ) a ON true
     WHERE d.resolved_at IS NULL AND r.kind = $2 ORDER BY d.at`,
    [ATTEMPTS_SHOWN, kind],
  );
  return rows.map(({ buyer_id: buyerId, order_ref: orderRef, step, at, reason, attempts }) => ({
    id: { buyerId, orderRef },
    step,
    since: at.toISOString(),
    reason,
    attempts: (attempts ?? []).map((tried) => ({ ...tried, at: new Date(tried.at).toISOString() })),
  }));
}

/** Lists them and notes who has looked, the user of this process unless named: "empty" and "nobody looked" differ. */
export async function lookAtDeadLetters(
  pool: Pool,
  kind: RunKind,
  by = process.env['USER'] ?? 'unknown',
): Promise<{ kind: 'dead-letters'; deadLetters: DeadLetter[] }> {
  const deadLetters = await listDeadLetters(pool, kind);
  await noteLook(pool, by);
  return { kind: 'dead-letters', deadLetters };
}

async function noteLook(pool: Pool, by: string): Promise<void> {
  await pool.query(
    `INSERT INTO queue.last_look (what, at, by) VALUES ('dead-letters', statement_timestamp(), $1)
     ON CONFLICT (what) DO UPDATE SET at = EXCLUDED.at, by = EXCLUDED.by`,
    [by],
  );
}
