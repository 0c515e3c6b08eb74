import type { Pool, QueryResultRow } from 'pg';
import type { Db } from './contract.ts';
import type { Limits } from './limits.ts';
import type { Notifier } from './notifier.ts';
import type { Waiters } from './waiters.ts';

/** A statement that is parsed once per connection, under this name. */
export interface Statement {
  name: string;
  text: string;
}

/** What the operations of one open transport share. */
export interface Session {
  pool: Pool;
  limits: Limits;
  /** False behind a pooler: the next statement may run on a connection that never saw the name. */
  prepared: boolean;
  maxReceives: number;
  flushClaims: boolean;
  notifier: Notifier;
  waiters: Waiters;
}

/** Runs one statement and returns its rows. */
export async function run<Row extends QueryResultRow>(
  { prepared }: Pick<Session, 'prepared'>,
  db: Db,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  const config = prepared ? { name, text, values } : { text, values };
  const { rows } = await db.query<Row>(config);
  return rows;
}
