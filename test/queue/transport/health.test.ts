import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transportHealth } from '../../../queue/transport/health.ts';
import { until } from '../../support/until.ts';
import { inOpenTransaction, openFresh, receiveNow } from './support.ts';

test('A17: health names the session with the oldest snapshot, and the dead rows it keeps alive', async (t) => {
  const { pool, url, transport } = await openFresh(t);
  const holder = await inOpenTransaction(t, url);
  await holder.query(`SET LOCAL application_name = 'forgotten report'`);
  await holder.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT 1');
  await transport.send(
    pool,
    'orders',
    Array.from({ length: 300 }, (_, body) => ({ body })),
  );
  const held = await receiveNow(transport, 'orders', 300);
  await transport.ackMany(
    'orders',
    held.map((message) => message.receipt),
  );
  await pool.query('VACUUM queue.message');
  const health = await until('the statistics to say so', async () => {
    await pool.query('SELECT pg_stat_force_next_flush()');
    const now = await transportHealth(pool);
    const table = now.tables.find(({ table }) => table === 'queue.message');
    return table !== undefined && table.deadRows >= 600 && now.heldBy !== null ? now : undefined;
  });
  assert.ok(health.oldestXminAge >= 3);
  assert.ok(health.notifyQueueUsage >= 0 && health.notifyQueueUsage < 1);

  await holder.query('ROLLBACK');
  await pool.query('VACUUM queue.message');
  await until('the dead rows to go', async () => {
    const { tables } = await transportHealth(pool);
    const table = tables.find(({ table }) => table === 'queue.message');
    return table?.deadRows === 0 && table.lastVacuum !== null;
  });
});

test('the hot table is vacuumed by the number of dead rows, not by a share of the table', async (t) => {
  const { pool } = await openFresh(t);
  const { rows } = await pool.query<{ reloptions: string[] }>(
    `SELECT reloptions FROM pg_class WHERE oid = 'queue.message'::regclass`,
  );
  assert.ok(rows[0]?.reloptions.includes('autovacuum_vacuum_scale_factor=0'));
});
