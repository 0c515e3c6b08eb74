import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OLD_RUNS } from '../../../queue/pruning/prune-details.ts';
import { FORGOTTEN_RUNS } from '../../../queue/pruning/prune-ledgers.ts';
import { QUIET_PARENTS, QUIET_RUNS } from '../../../queue/runs/sweep.ts';
import { DUE_TIMERS } from '../../../queue/timers/fire-due.ts';
import { nodesOf, PLAN_MODES, planOf } from '../transport/plan-of.ts';
import { inOpenTransaction, openFresh } from '../transport/support.ts';

/** Runs $1 to $2, that ended $3 days ago (null: not yet), with their history cut (the number $4) or not. */
const RUNS = `
  INSERT INTO queue.run
    (id, buyer_id, order_ref, content_hash, version, step, status, woken_at, ended_at, history_cut)
  SELECT 'run/' || n, 'run', n, 'x', '1', 'close', 'ended', statement_timestamp() - interval '1 day',
    statement_timestamp() - $3::int * interval '1 day' - n * interval '1 second', $4::int
  FROM generate_series($1::int, $2::int) AS n`;
const TIMERS = `
  INSERT INTO queue.timer (run_id, name, due_at)
  SELECT 'run/' || n, 'x', statement_timestamp() - n * interval '1 second'
  FROM generate_series($1::int, $2::int) AS n`;

for (const { what, statement, values, index, backlog, more } of [
  {
    what: 'due timers',
    statement: DUE_TIMERS,
    values: '50',
    index: 'timer_due',
    backlog: TIMERS,
    more: [],
  },
  {
    what: 'old runs',
    statement: OLD_RUNS,
    values: '1000, 50',
    index: 'run_ended',
    backlog: RUNS,
    more: [500, null],
  },
]) {
  test(`a look for ${what} reads a long backlog by its index and sorts nothing, with no statistics at all`, async (t) => {
    const { url } = await openFresh(t);
    const client = await inOpenTransaction(t, url);
    await client.query(`PREPARE looking AS ${statement}`);
    for (const [from, to] of [
      [1, 30],
      [31, 5_000],
    ]) {
      await client.query(backlog, [from, to, ...more]);
      for (const mode of PLAN_MODES) {
        await client.query(`SET plan_cache_mode = ${mode}`);
        const nodes = nodesOf(await planOf(client, `EXECUTE looking (${values})`));
        const kinds = nodes.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`);
        assert.ok(!nodes.some((node) => node['Node Type'] === 'Sort'), kinds.join());
        assert.ok(
          nodes.some((node) => node['Index Name'] === index),
          kinds.join(),
        );
      }
    }
  });
}

for (const { what, statement, index, due } of [
  { what: 'quiet runs', statement: QUIET_RUNS, index: 'run_open', due: [null, null] },
  {
    what: 'forgotten runs',
    statement: FORGOTTEN_RUNS,
    index: 'run_without_details',
    due: [500, 3],
  },
]) {
  test(`a look for ${what} among 20,000 others reads an index, not the table`, async (t) => {
    const { url } = await openFresh(t);
    const client = await inOpenTransaction(t, url);
    await client.query(RUNS, [1, 20_000, 1, null]);
    await client.query(RUNS, [20_001, 20_040, ...due]);
    await client.query('ANALYZE queue.run');
    await client.query(`PREPARE looking AS ${statement}`);
    for (const mode of PLAN_MODES) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      const plan = await planOf(client, 'EXECUTE looking (60000, 50)');
      const nodes = nodesOf(plan);
      const kinds = nodes.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`);
      assert.ok(
        nodes.some((node) => node['Index Name'] === index),
        kinds.join(),
      );
      const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      // One for each row found, to lock it, and a few of the indexes; the table has some 700.
      assert.ok(pages <= 250, `${kinds.join()} read ${pages} pages`);
    }
  });
}

test('a look for runs of the agent whose order has ended reads their own index, among 20,000 orders', async (t) => {
  const { url } = await openFresh(t);
  const client = await inOpenTransaction(t, url);
  await client.query(RUNS, [1, 20_000, 1, null]);
  await client.query(
    `INSERT INTO queue.run
       (id, kind, buyer_id, order_ref, content_hash, version, step, status, parked_for, woken_at)
     SELECT 'agent/run/' || n, 'agent', 'run', n, 'x', 'agent/1', 'order', 'running', 'child',
       statement_timestamp() - interval '1 day'
     FROM generate_series(1, 40) AS n`,
  );
  await client.query(`UPDATE queue.run SET parent_id = 'agent/' || id WHERE id = 'run/7'`);
  await client.query('ANALYZE queue.run');
  await client.query(`PREPARE looking AS ${QUIET_PARENTS}`);
  for (const mode of PLAN_MODES) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const { rows } = await client.query('EXECUTE looking (60000, 50)');
    assert.deepEqual(rows, [{ id: 'agent/run/7' }]);
    const plan = await planOf(client, 'EXECUTE looking (60000, 50)');
    const kinds = nodesOf(plan).map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`);
    assert.ok(
      kinds.some((kind) => kind.endsWith(' run_agent_open')),
      kinds.join(),
    );
    const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    assert.ok(pages <= 250, `${kinds.join()} read ${pages} pages`);
  }
});
