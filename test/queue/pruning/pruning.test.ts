import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Order } from '../../../core/order/schema.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { pruneDetails } from '../../../queue/pruning/prune-details.ts';
import { pruneLedgers } from '../../../queue/pruning/prune-ledgers.ts';
import { checkRetention, defaultRetention } from '../../../queue/pruning/retention.ts';
import { limitsOf } from '../../../queue/transport/limits.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { idleEngine } from '../support/engine.ts';
import type { IdleEngine } from '../support/engine.ts';

const DAY_MS = 24 * 3_600_000;
const ops = { by: 'ops', why: 'looked into it' };

describe('pruning', () => {
  let bench: QueueBench;
  let idle: IdleEngine;
  before(async () => {
    bench = await openBench();
    idle = await idleEngine(bench);
  });
  after(async () => {
    await idle.close();
    await bench.close();
  });

  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const daysPass = (runId: string, days: number) =>
    bench.pool.query(
      `UPDATE queue.run SET ended_at = ended_at - make_interval(days => $2) WHERE id = $1`,
      [runId, days],
    );
  const details = (days: number) =>
    pruneDetails(bench.pool, { olderThanMs: days * DAY_MS, batch: 100 });
  const ledgers = (days: number) =>
    pruneLedgers(bench.pool, { olderThanMs: days * DAY_MS, batch: 100 });

  /** Rows that have anything to do with a run, by table: nothing is listed that nobody counted. */
  async function rowsOf(runId: string): Promise<Record<string, number>> {
    const { rows: tables } = await bench.pool.query<{ name: string; column: string }>(
      `SELECT table_name AS name, column_name AS column FROM information_schema.columns
       WHERE table_schema = 'queue' AND (column_name = 'run_id' OR (table_name, column_name) = ('run', 'id'))`,
    );
    const counts: Record<string, number> = {};
    for (const { name, column } of tables) {
      const { rows } = await bench.pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM queue.${name} WHERE ${column} = $1`,
        [runId],
      );
      const [row] = rows;
      if (row && row.n > 0) counts[name] = row.n;
    }
    return counts;
  }

  async function anEndedRun(order = anOrder({ lines: 12 })): Promise<string> {
    await bench.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      reference: refOf(order),
      times: 1,
      effect: { kind: 'status', status: 503 },
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.ended(orderIdOf(order));
    return refOf(order);
  }

  test('takes what explains a run after one age and what identifies it after another; its invoice stays', async () => {
    const order = anOrder({ lines: 12 });
    const runId = await anEndedRun(order);
    const before = await rowsOf(runId);
    for (const table of ['run_input', 'run_history', 'run_attempt', 'run_join', 'ledger']) {
      assert.ok((before[table] ?? 0) > 0, `${table} of ${JSON.stringify(before)}`);
    }
    assert.equal(await details(90), 0);
    await daysPass(runId, 91);
    assert.equal(await details(90), 1);
    assert.equal(await details(90), 0);
    assert.deepEqual(await rowsOf(runId), { run: 1, ledger: before['ledger'], invoice: 1 });
    const { rows: children } = await bench.pool.query(
      `SELECT FROM queue.join_child WHERE starts_with(join_id, $1)`,
      [runId],
    );
    assert.deepEqual(children, []);

    const position = await bench.position(orderIdOf(order));
    assert.equal(position.outcome, 'completed');
    assert.equal(position.historyCut, before['run_history']);
    const again = await bench.pipeline.submit(order, quickPolicy);
    assert.equal(again.kind, 'already-finished');
    const other = await bench.pipeline.submit({ ...order, tax: '1.00' }, quickPolicy);
    assert.equal(other.kind, 'conflict');

    assert.equal(await ledgers(400), 0);
    await daysPass(runId, 310);
    assert.equal(await ledgers(400), 1);
    assert.deepEqual(await rowsOf(runId), { invoice: 1 });
  });

  test('leaves a run that is stuck alone, however long nobody looks, and its replay repeats nothing', async () => {
    const order = anOrder();
    await bench.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      reference: refOf(order),
      effect: { kind: 'status', status: 400 },
    });
    await bench.pipeline.submit(order, quickPolicy);
    const id = orderIdOf(order);
    await bench.until(id, ({ status }) => status === 'stuck');
    await bench.pool.query(
      `UPDATE queue.run SET started_at = started_at - interval '10 years',
         since = since - interval '10 years', woken_at = woken_at - interval '10 years' WHERE id = $1`,
      [refOf(order)],
    );
    const before = await rowsOf(refOf(order));
    assert.deepEqual([await details(0), await ledgers(0)], [0, 0]);
    assert.deepEqual(await rowsOf(refOf(order)), before);
    await bench.partners.clearFault();
    await bench.pipeline.deadLetters.replay(id, ops);
    assert.equal((await bench.ended(id)).outcome, 'completed');
    const { charge, reservation, order: placed } = await bench.partners.counts(refOf(order));
    assert.deepEqual([charge, reservation, placed], [1, 1, 1]);
    await details(0);
    await ledgers(0);
  });

  test('leaves nothing that a message which comes back could stumble over: it is acked and repeats no effect', async () => {
    const order = anOrder({ lines: 12 });
    const runId = await anEndedRun(order);
    await daysPass(runId, 500);
    assert.equal(await details(90), 1);
    const { transport, pool } = idle.engine;
    const children = { body: { joinId: `${runId}/r1/price`, childId: '1' } };
    await transport.send(pool, 'orders', [{ body: { runId } }]);
    await transport.send(pool, 'lines', [children]);
    await until('both are acked', async () => {
      const { rowCount } = await pool.query('SELECT FROM queue.message');
      return rowCount === 0;
    });
    const { rowCount: dead } = await pool.query('SELECT FROM queue.dead_message');
    assert.equal(dead, 0);
    const { charge, order: placed, mail } = await bench.partners.counts(runId);
    assert.deepEqual([charge, placed, mail], [1, 1, 1]);
    assert.equal(await ledgers(400), 1);
  });

  test('takes a batch at a time, the oldest first', async () => {
    const young = await anEndedRun();
    const old = await anEndedRun();
    await daysPass(young, 100);
    await daysPass(old, 200);
    assert.equal(await pruneDetails(bench.pool, { olderThanMs: 90 * DAY_MS, batch: 1 }), 1);
    const { rows } = await bench.pool.query(
      'SELECT id FROM queue.run WHERE id = ANY ($1) AND history_cut IS NOT NULL',
      [[young, old]],
    );
    assert.deepEqual(rows, [{ id: old }]);
    assert.equal(await details(90), 1);
  });

  test('passes over a run that somebody is writing to, and takes it the next time', async () => {
    const runId = await anEndedRun();
    await daysPass(runId, 100);
    const client = await idle.client();
    await client.query('BEGIN');
    await client.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
    assert.equal(await details(90), 0);
    await client.query('COMMIT');
    assert.equal(await details(90), 1);
  });

  /** The ways in which a message may name a run. */
  const naming = {
    'no message': undefined,
    'a wake-up': (runId: string) => ({ body: { runId } }),
    'a child': (runId: string) => ({ body: { joinId: `${runId}/r1/price`, childId: '1' } }),
    'a key': (runId: string) => ({ body: { order: 'the whole of it' }, key: runId }),
    'another run': (runId: string) => ({ body: { runId: `${runId}0` }, key: 'x' }),
    'nothing that can be read': () => ({ body: 1 }),
  };

  test('never takes a ledger row that a redrive could need, and takes every other', async () => {
    const { transport } = idle.engine;
    const world = fc.array(
      fc.record({
        endedDaysAgo: fc.option(fc.integer({ min: 0, max: 800 })),
        named: fc.constantFrom(...(Object.keys(naming) as (keyof typeof naming)[])),
        // Where the message that names it is.
        dead: fc.boolean(),
        // A dead letter that nobody has resolved: only a bug could leave one on an ended run.
        stuck: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    await bench.pool.query('TRUNCATE queue.message, queue.dead_message');
    await fc.assert(
      fc.asyncProperty(world, async (runs) => {
        const ids: string[] = [];
        for (const [n, run] of runs.entries()) {
          const id = `law/${n}`;
          ids.push(id);
          await bench.pool.query(
            `INSERT INTO queue.run (id, buyer_id, order_ref, content_hash, version, step, status, ended_at)
             VALUES ($1, 'law', $2, 'x', '1', 'close', 'ended',
               statement_timestamp() - make_interval(days => $3))`,
            [id, String(n), run.endedDaysAgo],
          );
          await bench.pool.query(
            `INSERT INTO queue.ledger (effect_key, run_id, revision, step, partner, state, token)
             VALUES ($1 || '/r1/charge', $1, 1, 'charge', 'payments', 'done', 1)`,
            [id],
          );
          if (run.stuck) {
            await bench.pool.query(
              `INSERT INTO queue.dead_letter (run_id, revision, step, reason) VALUES ($1, 1, 'charge', 'x')`,
              [id],
            );
          }
          const message = naming[run.named]?.(id);
          if (message) await transport.send(bench.pool, 'law', [message]);
          if (message && run.dead) {
            const [taken] = await transport.receive('law', {
              max: 1,
              visibilityMs: 60_000,
              waitMs: 0,
            });
            assert.ok(taken);
            await transport.deadLetter('law', taken.receipt, 'x');
          } else {
            await bench.pool.query(`UPDATE queue.message SET visible_at = 'infinity'`);
          }
        }
        await details(90);
        await ledgers(400);
        const { rows } = await bench.pool.query<{ run_id: string }>(
          `SELECT run_id FROM queue.ledger WHERE starts_with(run_id, 'law/') ORDER BY run_id`,
        );
        const needed = runs.map(
          ({ endedDaysAgo, named, stuck }) =>
            endedDaysAgo === null ||
            endedDaysAgo <= 400 ||
            stuck ||
            ['a wake-up', 'a child', 'a key'].includes(named),
        );
        assert.deepEqual(
          rows.map(({ run_id: runId }) => runId),
          ids.filter((_, n) => needed[n]),
        );
        await bench.pool.query('TRUNCATE queue.message, queue.dead_message');
        await bench.pool.query(`DELETE FROM queue.dead_letter WHERE starts_with(run_id, 'law/')`);
        await bench.pool.query(`DELETE FROM queue.ledger WHERE starts_with(run_id, 'law/')`);
        await bench.pool.query(`DELETE FROM queue.run WHERE starts_with(id, 'law/')`);
      }),
      { numRuns: 30 },
    );
  });

  test('a retention that would let the ledger go before what it guards is refused by name', () => {
    checkRetention(defaultRetention, limitsOf('sqs').deadRetentionMs);
    checkRetention(defaultRetention, limitsOf('postgres').deadRetentionMs);
    const refused = (changes: Partial<typeof defaultRetention>, reason: RegExp, dead = 0) => {
      assert.throws(() => checkRetention({ ...defaultRetention, ...changes }, dead), reason);
    };
    refused({ ledgerMs: 30 * DAY_MS }, /ledgerMs is 2592000000: .*the details/);
    refused({ ledgerMs: 1_000, detailsMs: 0 }, /ledgerMs is 1000: .*keys of the partners/);
    refused({ ledgerMs: 10 * DAY_MS, detailsMs: 0 }, /the dead letters/, 14 * DAY_MS);
    refused({ detailsMs: NaN }, /detailsMs is NaN/);
    refused({ detailsMs: -1 }, /detailsMs is -1/);
  });
});
