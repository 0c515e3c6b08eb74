import { LimitError } from './limits.ts';
import { run, type Session, type Statement } from './session.ts';

const countInFlight: Statement = {
  name: 'q2t_count_in_flight',
  text: `
    SELECT count(*)::int AS "inFlight" FROM (
      SELECT FROM queue.message
      WHERE queue = $1 AND visible_at > statement_timestamp() AND receipt IS NOT NULL
      LIMIT $2
    ) AS counted`,
};

/**
 * SQS refuses a receive while 120,000 messages of the queue are in flight. Only a profile with such
 * a limit pays for the count.
 */
export async function refuseAboveInFlightLimit(session: Session, queue: string): Promise<void> {
  const { maxInFlight, profile } = session.limits;
  if (maxInFlight === Number.MAX_SAFE_INTEGER) return;
  const values = [queue, maxInFlight];
  const [row] = await run<{ inFlight: number }>(session, session.pool, countInFlight, values);
  if ((row?.inFlight ?? 0) < maxInFlight) return;
  throw new LimitError(
    'inFlight',
    `is at the ${maxInFlight} messages the ${profile} profile allows`,
    'ack what is done before receiving more',
  );
}
