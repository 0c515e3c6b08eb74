import { afterCommit } from '../database.ts';
import type { Db, OutgoingMessage } from './contract.ts';
import { checkBodies, checkDelay, checkKey, checkQueue } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * statement_timestamp, not now(): a message written late in a long transaction is due from when it
 * was written, and must not look older than it is.
 */
const sendOne: Statement = {
  name: 'q2t_send_one',
  text: `
    INSERT INTO queue.message (queue, visible_at, sent_at, body, key)
    VALUES ($1, statement_timestamp() + $2::float8 * interval '1 ms', statement_timestamp(), $3, $4)
    RETURNING id`,
};

/*
 * The bodies come as one JSON array: a text[] would have every quote escaped a second time.
 * Ids are given out in the order of the rows, so sorting by id restores the caller's order.
 */
const sendMany: Statement = {
  name: 'q2t_send_many',
  text: `
    INSERT INTO queue.message (queue, visible_at, sent_at, body, key)
    SELECT $1, statement_timestamp() + delay_ms * interval '1 ms', statement_timestamp(), body, key
    FROM ROWS FROM (json_array_elements($3::json), unnest($2::float8[]), unnest($4::text[]))
      WITH ORDINALITY AS m (body, delay_ms, key, position)
    ORDER BY position
    RETURNING id`,
};

export async function send(
  session: Session,
  db: Db,
  queue: string,
  messages: OutgoingMessage[],
): Promise<string[]> {
  const [first] = messages;
  if (first === undefined) return [];
  checkQueue(queue);
  const bodies = checkBodies(
    session.limits,
    messages.map((message) => message.body),
  );
  const delays = messages.map(({ delayMs = 0 }) => delayMs);
  for (const delayMs of delays) checkDelay(session.limits, delayMs);
  const keys = messages.map(({ key }) => key ?? null);
  for (const key of keys) if (key !== null) checkKey(key);

  const rows =
    messages.length === 1
      ? await run<{ id: string }>(session, db, sendOne, [queue, delays[0], bodies[0], keys[0]])
      : await run<{ id: string }>(session, db, sendMany, [
          queue,
          delays,
          `[${bodies.join(',')}]`,
          keys,
        ]);
  if (delays.some((delayMs) => delayMs === 0)) {
    afterCommit(db, () => session.notifier.hint(queue));
  }
  return rows.map((row) => row.id).sort(byNumber);
}

/** Ids are bigints in decimal, without leading zeros: the shorter one is the smaller one. */
function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}
