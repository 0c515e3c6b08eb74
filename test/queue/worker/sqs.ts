import type { Pool } from 'pg';

/** For worker processes: more hands than one receive may bring. Nobody keeps house unless a test does. */
export const SQS_ENV = {
  Q2T_TRANSPORT_PROFILE: 'sqs',
  Q2T_ORDERS: '12',
  Q2T_LINES: '12',
  Q2T_CHAIN: '12',
  Q2T_HOUSEKEEPING_MS: '0',
};

/** How far ahead (ms) the message lies that waits longest; 0 when there is none. */
export async function longestDelayMs(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ ms: number | null }>(
    `SELECT max(extract(epoch FROM visible_at - statement_timestamp()) * 1000)::float8 AS ms
     FROM queue.message`,
  );
  return rows[0]?.ms ?? 0;
}
