import { checkQueue } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

/* In batches, so that no single transaction is old enough to hold up the vacuum of a hot table. */
const BATCH = 1_000;

/* Passes over what is locked, as purge does and for the same reason; the next round takes it. */
const expireMessages: Statement = {
  name: 'q2t_expire',
  text: `
    DELETE FROM queue.message WHERE id IN (
      SELECT id FROM queue.message
      WHERE queue = $1 AND sent_at < statement_timestamp() - $2::float8 * interval '1 ms'
      LIMIT $3 FOR UPDATE SKIP LOCKED
    )
    RETURNING id`,
};

const expireDead: Statement = {
  name: 'q2t_expire_dead',
  text: `
    DELETE FROM queue.dead_message WHERE id IN (
      SELECT id FROM queue.dead_message
      WHERE queue = $1 AND sent_at < statement_timestamp() - $2::float8 * interval '1 ms'
      LIMIT $3 FOR UPDATE SKIP LOCKED
    )
    RETURNING id`,
};

/**
 * For a janitor that comes by now and then. Both ages count from the send: a message that dies on
 * its third day of four has one day left among the dead.
 */
export async function expire(
  session: Session,
  queue: string,
): Promise<{ messages: number; dead: number }> {
  checkQueue(queue);
  const { retentionMs, deadRetentionMs } = session.limits;
  return {
    messages: await expireOlder(session, expireMessages, queue, retentionMs),
    dead: await expireOlder(session, expireDead, queue, deadRetentionMs),
  };
}

async function expireOlder(
  session: Session,
  statement: Statement,
  queue: string,
  ageMs: number | null,
): Promise<number> {
  if (ageMs === null) return 0;
  for (let expired = 0; ;) {
    const batch = await run(session, session.pool, statement, [queue, ageMs, BATCH]);
    expired += batch.length;
    if (batch.length < BATCH) return expired;
  }
}
