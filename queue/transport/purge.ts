import { checkQueue } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

/* In batches, so that no single transaction is old enough to hold up the vacuum of a hot table. */
const BATCH = 10_000;

/*
 * Passing over what is locked: whoever acks a batch holds several rows, in whatever order, and a
 * purge that held some and waited for others would be in a deadlock with it.
 */
const purgeFree: Statement = {
  name: 'q2t_purge_free',
  text: `
    DELETE FROM queue.message WHERE id IN (
      SELECT id FROM queue.message WHERE queue = $1 AND id <= $2 LIMIT $3
      FOR UPDATE SKIP LOCKED
    )
    RETURNING id`,
};

/* Then what was locked, one by one: it waits for a row while it holds no other. */
const purgeOne: Statement = {
  name: 'q2t_purge_one',
  text: 'DELETE FROM queue.message WHERE id = $1 AND queue = $2 RETURNING id',
};

const readIds: Statement = {
  name: 'q2t_purge_ids',
  text: 'SELECT id FROM queue.message WHERE queue = $1 AND id <= $2',
};

const readNewest: Statement = {
  name: 'q2t_purge_newest',
  text: 'SELECT max(id) AS id FROM queue.message WHERE queue = $1',
};

/**
 * What was there when it began, what is in flight included: those receipts are stale from then on.
 * What is sent meanwhile stays.
 */
export async function purge(session: Session, queue: string): Promise<number> {
  checkQueue(queue);
  const { pool } = session;
  const [newest] = await run<{ id: string | null }>(session, pool, readNewest, [queue]);
  const upTo = newest?.id ?? '0';
  let deleted = 0;
  for (;;) {
    const batch = await run(session, pool, purgeFree, [queue, upTo, BATCH]);
    deleted += batch.length;
    if (batch.length < BATCH) break;
  }
  for (const { id } of await run<{ id: string }>(session, pool, readIds, [queue, upTo])) {
    deleted += (await run(session, pool, purgeOne, [id, queue])).length;
  }
  return deleted;
}
