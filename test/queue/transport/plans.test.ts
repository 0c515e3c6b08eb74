import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimDue, nextDue } from '../../../queue/transport/claim.ts';
import { nodesOf, PLAN_MODES, planOf } from './plan-of.ts';
import { inOpenTransaction, openFresh } from './support.ts';

test('a claim from a long backlog reads what it takes and does not sort the rest, with no statistics at all', async (t) => {
  const { url } = await openFresh(t);
  const client = await inOpenTransaction(t, url);
  await client.query(`PREPARE looking AS ${claimDue.text}`);
  for (const backlog of [30, 500, 5_000]) {
    await client.query(
      `INSERT INTO queue.message (queue, visible_at, sent_at, body)
       SELECT 'orders', statement_timestamp(), statement_timestamp(), '1' FROM generate_series(1, $1)`,
      [backlog],
    );
    for (const mode of PLAN_MODES) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      const plan = await planOf(client, `EXECUTE looking ('orders', 50, 60000, false)`);
      const kinds = nodesOf(plan).map((node) => node['Node Type']);
      assert.ok(!kinds.includes('Sort') && !kinds.includes('Seq Scan'), kinds.join());
    }
  }
});

test('empty polls stay cheap with 200,000 delayed rows: a few pages of the index, however they are planned', async (t) => {
  const { url } = await openFresh(t);
  const client = await inOpenTransaction(t, url);
  await client.query(`
    INSERT INTO queue.message (queue, visible_at, sent_at, body)
    SELECT 'orders', statement_timestamp() + n * interval '1 second', statement_timestamp(), '1'
    FROM generate_series(100, 200100) AS n`);
  await client.query('ANALYZE queue.message');
  for (const [statement, values] of [
    [claimDue, "'orders', 10, 60000, false"],
    [nextDue, "'orders'"],
  ] as const) {
    await client.query(`PREPARE looking AS ${statement.text}`);
    for (const mode of PLAN_MODES) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      // The first run also reads the catalogue.
      await client.query(`EXECUTE looking (${values})`);
      const plan = await planOf(client, `EXECUTE looking (${values})`);
      const nodes = nodesOf(plan);
      const label = `${statement.name} with ${mode}`;
      assert.ok(
        nodes.some((node) => node['Index Name'] === 'message_due'),
        label,
      );
      assert.ok(!nodes.some((node) => node['Node Type'] === 'Seq Scan'), label);
      const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      assert.ok(pages <= 12, `${label} read ${pages} pages`);
    }
    await client.query('DEALLOCATE looking');
  }
});
