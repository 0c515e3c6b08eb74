import type { TestContext } from 'node:test';
import pg from 'pg';
import type { Pool } from 'pg';
import { openPool } from '../../../queue/database.ts';
import type { ReceivedMessage, Transport } from '../../../queue/transport/contract.ts';
import {
  openTransport,
  type OpenTransport,
  type TransportSettings,
} from '../../../queue/transport/open.ts';
import { freshDatabase } from '../../support/postgres.ts';

export interface Opened {
  url: string;
  pool: Pool;
  transport: OpenTransport;
}

/** A transport on a database of its own; all of it is gone when the test ends. */
export async function openFresh(
  t: TestContext,
  settings: Partial<TransportSettings> = {},
): Promise<Opened> {
  const database = await freshDatabase();
  const pool = openPool({ url: database.url, applicationName: 'test', maxConnections: 20 });
  const opening = openTransport({ pool, profile: 'postgres', ...settings });
  // In one hook: they run in the order of their registration, and this is the order that works.
  t.after(async () => {
    await (await opening.catch(() => undefined))?.close();
    await pool.end();
    await database.drop();
  });
  return { url: database.url, pool, transport: await opening };
}

/** A second process's transport on the same database, as far as the database can tell. */
export async function openAnother(
  t: TestContext,
  url: string,
  settings: Partial<TransportSettings> = {},
): Promise<Opened> {
  const pool = openPool({ url, applicationName: 'another' });
  const transport = await openTransport({ pool, profile: 'postgres', ...settings });
  t.after(async () => {
    await transport.close();
    await pool.end();
  });
  return { url, pool, transport };
}

/** A connection of its own inside a transaction, which ends with the test at the latest. */
export async function inOpenTransaction(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'in-transaction' });
  // A test may have it terminated; its database goes before it does.
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN');
  return client;
}

/** The one message that can be received now, or within `waitMs`. */
export async function receiveOne(
  transport: Transport,
  queue: string,
  options: { visibilityMs?: number; waitMs?: number } = {},
): Promise<ReceivedMessage> {
  const { visibilityMs = 60_000, waitMs = 10_000 } = options;
  const [message] = await transport.receive(queue, { max: 1, visibilityMs, waitMs });
  if (message === undefined) throw new Error(`nothing in ${queue}`);
  return message;
}

/** What could be received right now, without waiting. */
export function receiveNow(
  transport: Transport,
  queue: string,
  max = 10,
): Promise<ReceivedMessage[]> {
  return transport.receive(queue, { max, visibilityMs: 60_000, waitMs: 0 });
}
