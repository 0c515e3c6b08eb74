import type { Attempt, Db, ReceivedMessage } from './contract.ts';
import { writeReceipt } from './receipt.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * SKIP LOCKED hands different messages to receivers that look at the same moment; MATERIALIZED
 * makes sure that the rows are picked once, whatever the planner would like. The time is
 * statement_timestamp(): stable within the statement, so it can be the end of an index range.
 * With the volatile clock_timestamp() an empty claim over 200,000 delayed rows read all of them.
 * The limit is a subquery so that the planner can't see it: with a number, and a table whose
 * statistics are missing or older than its backlog, it sorted all due rows to take the first fifty.
 *
 * The receive is counted here, when the message is handed out, not when a failure is reported: a
 * message that kills its consumer counts too. What ended without an ack goes into the history of
 * the message, and only then, so that a first delivery writes none.
 *
 * The commit does not wait for the disk (set_config for this transaction only, in the same round
 * trip): one flush per job less. What a crash of the server can take back is a claim on which
 * nothing durable was built, since any later flush takes the earlier log with it; the message is
 * then delivered again, as after any lost consumer, and the old receipt is stale. $4 is for those
 * who want the flush nevertheless.
 */
export const claimDue: Statement = {
  name: 'q2t_claim',
  text: `
    WITH picked AS MATERIALIZED (
      SELECT id FROM queue.message
      WHERE queue = $1 AND visible_at <= statement_timestamp()
      ORDER BY visible_at
      LIMIT (SELECT $2::int)
      FOR UPDATE SKIP LOCKED
    )
    UPDATE queue.message AS m
    SET visible_at = statement_timestamp() + $3::float8 * interval '1 ms',
        claimed_at = statement_timestamp(),
        receipt = gen_random_uuid(),
        receives = m.receives + 1,
        attempts = CASE WHEN m.receipt IS NULL THEN m.attempts
          ELSE queue.with_attempt(m.attempts, m.claimed_at, m.visible_at, 'visibility ran out') END
    FROM picked
    WHERE m.id = picked.id
    RETURNING m.id, m.receipt, m.receives, m.sent_at, m.visible_at, m.key, m.body, m.attempts,
      CASE WHEN $4 THEN NULL ELSE set_config('synchronous_commit', 'off', true) END`,
};

interface ClaimedRow {
  id: string;
  receipt: string;
  receives: number;
  sent_at: Date;
  visible_at: Date;
  key: string | null;
  body: unknown;
  attempts: Attempt[] | null;
}

/** Claims due messages. With a pool in a short transaction of its own, so that no row lock outlives the claim. */
export async function claim(
  session: Pick<Session, 'prepared' | 'flushClaims'>,
  db: Db,
  queue: string,
  max: number,
  visibilityMs: number,
): Promise<ReceivedMessage[]> {
  const rows = await run<ClaimedRow>(session, db, claimDue, [
    queue,
    max,
    visibilityMs,
    session.flushClaims,
  ]);
  return rows.map((row) => ({
    messageId: row.id,
    body: row.body,
    ...(row.key === null ? {} : { key: row.key }),
    receipt: writeReceipt({ id: row.id, delivery: row.receipt }),
    receiveCount: row.receives,
    sentAt: row.sent_at,
    visibleAgainAt: row.visible_at,
    attempts: row.attempts ?? [],
  }));
}

export const nextDue: Statement = {
  name: 'q2t_next_due',
  text: `
    SELECT (extract(epoch FROM visible_at - statement_timestamp()) * 1000)::float8 AS "dueInMs"
    FROM queue.message WHERE queue = $1 ORDER BY visible_at LIMIT 1`,
};

/** Milliseconds until the next delayed or hidden message is due; null when there is none. */
export async function dueInMs(session: Session, queue: string): Promise<number | null> {
  const [row] = await run<{ dueInMs: number }>(session, session.pool, nextDue, [queue]);
  return row === undefined ? null : Math.max(0, row.dueInMs);
}
