import { checkQueue } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

/* In batches, so that no single transaction is old enough to hold up the vacuum of a hot table. */
const BATCH = 10_000;

const purgeBatch: Statement = {
  name: 'q2t_purge',
  text: `
    DELETE FROM queue.message
    WHERE id IN (SELECT id FROM queue.message WHERE queue = $1 ORDER BY id LIMIT $2 FOR UPDATE)
    RETURNING id`,
};

/** Also takes what is in flight: its receipts are stale from then on. */
export async function purge(session: Session, queue: string): Promise<number> {
  checkQueue(queue);
  let deleted = 0;
  for (;;) {
    const batch = await run(session, session.pool, purgeBatch, [queue, BATCH]);
    deleted += batch.length;
    if (batch.length < BATCH) return deleted;
  }
}
