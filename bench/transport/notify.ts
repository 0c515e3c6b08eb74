import pg from 'pg';
import { openPool } from '../../queue/database.ts';
import { migrate } from '../../queue/migrations/migrate.ts';
import { openTransport } from '../../queue/transport/open.ts';
import type { BenchServer } from '../server.ts';

export interface NotifyResult {
  producers: number;
  sendsPerSecond: { silent: number; hinting: number; inTransaction: number };
}

const INSERT = `
  INSERT INTO queue.message (queue, visible_at, sent_at, body)
  VALUES ('bench', statement_timestamp(), statement_timestamp(), '1')`;

/**
 * What NOTIFY costs many committing producers (case A15): no notification at all, our hints from
 * one notifier, and a NOTIFY in every producer's transaction, as a trigger would do it.
 */
export async function measureNotify(
  server: BenchServer,
  producers: number,
  sends: number,
): Promise<NotifyResult> {
  const database = await server.createDatabase();
  try {
    await migrate(database.url);
    const pool = openPool({
      url: database.url,
      applicationName: 'bench',
      maxConnections: producers,
    });
    const transport = await openTransport({ pool, profile: 'postgres' });
    // Somebody has to listen, or a notification costs next to nothing.
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    await listener.query('LISTEN q2t_message');
    const rate = (send: () => Promise<unknown>) => sendRate(producers, sends, send);
    const withNotify = `WITH said AS (${INSERT} RETURNING id) SELECT pg_notify('q2t_message', id::text) FROM said`;
    await rate(() => pool.query(INSERT));
    const sendsPerSecond = {
      silent: await rate(() => pool.query(INSERT)),
      hinting: await rate(() => transport.send(pool, 'bench', [{ body: 1 }])),
      inTransaction: await rate(() => pool.query(withNotify)),
    };
    await listener.end();
    await transport.close();
    await pool.end();
    return { producers, sendsPerSecond };
  } finally {
    await database.drop();
  }
}

async function sendRate(producers: number, sends: number, send: () => Promise<unknown>) {
  let left = sends;
  const producer = async () => {
    while (left-- > 0) await send();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: producers }, producer));
  return (sends * 1_000) / (performance.now() - began);
}
