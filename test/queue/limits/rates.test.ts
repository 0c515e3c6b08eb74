import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { placeInLine } from '../../../queue/limits/line.ts';
import { namedRates } from '../../../workers/rates.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const RATE = 5;
const ORDERS = 16;

describe('the rate of a partner', () => {
  let bench: QueueBench;
  before(async () => {
    bench = await openBench({ workers: 0 });
  });
  after(() => bench.close());

  test('is kept by two workers together, costs no attempt, and a crowd that waits for it does not keep asking', async (t) => {
    const orders = Array.from({ length: ORDERS }, () => anOrder());
    for (const order of orders) await bench.pipeline.submit(order, quickPolicy);
    const env = { Q2T_RATES: `bureau=${RATE}`, Q2T_ORDERS: '16' };
    const workers = await Promise.all([1, 2].map(() => startWorkerProcess(bench, env)));
    t.after(async () => {
      for (const worker of workers) worker.signal('SIGKILL');
      await Promise.all(workers.map(({ exited }) => exited));
    });
    for (const order of orders) {
      assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
    }
    const effects = await bench.partners.effects({ kind: 'enquiry' });
    const times = effects.map(({ at }) => Date.parse(at));
    assert.equal(times.length, ORDERS);
    const tookMs = Math.max(...times) - Math.min(...times);
    // Workers that each kept the rate for themselves would be through in half of this. The last second
    // is for a first request that was longer on its way than the last.
    const atLeastMs = ((ORDERS - 1) / RATE) * 1_000 - 1_000;
    assert.ok(tookMs >= atLeastMs, `${tookMs} ms, not ${atLeastMs}`);

    const { rowCount } = await bench.pool.query('SELECT FROM queue.run_attempt');
    assert.equal(rowCount, 0);
    const { rows } = await bench.pool.query<{ takes: number }>(
      'SELECT sum(token)::int AS takes FROM queue.run',
    );
    // Everybody at every slot would be some 16 * 16 / 2 looks, beside the few that an order needs.
    const takes = rows[0]?.takes ?? Infinity;
    assert.ok(takes <= ORDERS * 8, `${takes} leases for ${ORDERS} orders`);
  });

  test('that the environment does not name is none, also when an earlier worker had set one', async () => {
    const rates = async () => {
      const { rows } = await bench.pool.query<{ partner: string; per_second: number | null }>(
        'SELECT partner, per_second FROM queue.partner_limit WHERE per_second IS NOT NULL',
      );
      return rows;
    };
    for (const [setting, expected] of [
      [
        'bureau=2,payments=3',
        [
          ['bureau', 2],
          ['payments', 3],
        ],
      ],
      ['payments=4', [['payments', 4]]],
      ['', []],
    ] as const) {
      const worker = await bench.startWorker({ rates: namedRates.parse(setting) });
      const set = (await rates()).map(({ partner, per_second: rate }) => [partner, rate]);
      assert.deepEqual(set.sort(), expected);
      await worker.stop();
    }
    const other = await bench.startWorker({ rates: { mailer: 7 } });
    const silent = await bench.startWorker();
    assert.deepEqual(await rates(), [{ partner: 'mailer', per_second: 7 }]);
    await silent.stop();
    await other.stop();
  });

  test('that is no rate ends the worker before it works, and says which entry', async () => {
    await assert.rejects(
      startWorkerProcess(bench, { Q2T_RATES: 'payments=lots' }),
      /payments=lots.*above 0.*Q2T_RATES/s,
    );
  });
});

describe('the line at a partner', () => {
  const at = (now: number) => ({ now, random: () => 0.5 });

  test('has one place after the other, a slot apart, and a new arrival comes behind them', () => {
    assert.equal(placeInLine('bureau', 30, 100, at(1_000)), 30);
    assert.equal(placeInLine('bureau', 30, 100, at(1_000)), 130);
    assert.equal(placeInLine('bureau', 10, 100, at(1_020)), 210);
    assert.equal(placeInLine('payments', 10, 100, at(1_020)), 10);
  });

  test('is forgotten once it is over, and when the rate changes', () => {
    assert.equal(placeInLine('mailer', 5, 3_600_000, at(0)), 5);
    assert.equal(placeInLine('mailer', 5, 3_600_000, at(0)), 3_600_005);
    assert.equal(placeInLine('mailer', 5, 100, at(10)), 5);
    assert.equal(placeInLine('mailer', 50, 100, at(900_000)), 50);
  });

  test('spreads those whom a pause keeps away over a tenth of it, never earlier than it ends', () => {
    assert.equal(placeInLine('supplier', 1_000, null, { now: 0, random: () => 0 }), 1_000);
    assert.equal(placeInLine('supplier', 1_000, null, { now: 0, random: () => 0.5 }), 1_050);
  });
});
