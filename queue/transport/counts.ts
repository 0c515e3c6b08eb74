import type { QueueCounts } from './contract.ts';
import { checkQueue } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * In flight: delivered and still hidden. A delivery whose visibility ran out is available again,
 * whatever its consumer believes.
 */
const countAll: Statement = {
  name: 'q2t_counts',
  text: `
    SELECT
      count(*) FILTER (WHERE visible_at <= statement_timestamp())::int AS "available",
      count(*) FILTER (WHERE visible_at > statement_timestamp() AND receipt IS NOT NULL)::int
        AS "inFlight",
      count(*) FILTER (WHERE visible_at > statement_timestamp() AND receipt IS NULL)::int
        AS "delayed",
      (SELECT count(*)::int FROM queue.dead_message WHERE queue = $1) AS "dead",
      (extract(epoch FROM statement_timestamp()
        - min(sent_at) FILTER (WHERE visible_at <= statement_timestamp())) * 1000)::float8
        AS "oldestAgeMs"
    FROM queue.message WHERE queue = $1`,
};

/** Reads every row of the queue: for a person or a metric every few seconds, not for a loop. */
export async function counts(session: Session, queue: string): Promise<QueueCounts> {
  checkQueue(queue);
  const [row] = await run<QueueCounts & Record<string, unknown>>(session, session.pool, countAll, [
    queue,
  ]);
  if (row === undefined) throw new Error('an aggregate without a row');
  return row;
}
