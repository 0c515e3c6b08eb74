import { afterCommit } from '../database.ts';
import type { Db } from './contract.ts';
import { checkMessageIds, checkQueue } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * A new id, as SQS gives one, and the producer's key as it was: whoever guards an effect by the
 * message id would do it again, whoever guards it by the key would not. It counts as sent now, or
 * retention might take it before anybody receives it. $2 null means all of them. Locked in one order,
 * so that two consoles that redrive or discard at once wait for each other and don't deadlock.
 */
const redriveDead: Statement = {
  name: 'q2t_redrive',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM queue.dead_message
      WHERE queue = $1 AND ($2::bigint[] IS NULL OR id = ANY ($2))
      ORDER BY id FOR UPDATE
    ), risen AS (
      DELETE FROM queue.dead_message AS d USING chosen WHERE d.id = chosen.id
      RETURNING d.*
    )
    INSERT INTO queue.message (queue, visible_at, sent_at, key, body, attempts)
    SELECT queue, statement_timestamp(), statement_timestamp(), key, body,
      queue.with_attempt(attempts, dead_at, statement_timestamp(), 'redriven')
    FROM risen ORDER BY id
    RETURNING id`,
};

export async function redrive(
  session: Session,
  queue: string,
  messageIds?: string[],
  db: Db = session.pool,
): Promise<number> {
  checkQueue(queue);
  checkMessageIds('messageIds', messageIds ?? []);
  const risen = await run(session, db, redriveDead, [queue, messageIds ?? null]);
  if (risen.length > 0) afterCommit(db, () => session.notifier.hint(queue));
  return risen.length;
}
