import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { partnerQueue } from '../../activities/partner-queues.ts';
import type { CreditInput } from '../../activities/credit.ts';
import { defaultRates, ratesSetting } from '../../workers/rates.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { quickPolicy } from '../support/orders.ts';
import { startWorkerProcess } from './worker-script.ts';

const RATE = 5;
const ENQUIRIES = 40;

let bench: OrderBench;
before(async () => {
  bench = await openBench({ worker: false });
});
after(() => bench.close());

test('a partner is asked no more often than its rate by two workers together, and nothing fails for the wait', async () => {
  const asked = await Promise.all(Array.from({ length: ENQUIRIES }, (_, n) => enquire(n)));
  // All of it lies in the queue now: without a rate it would be gone in half a second.
  const workers = [1, 2].map(() => startWorkerProcess(bench, { Q2T_RATES: `bureau=${RATE}` }));
  const scores = await Promise.all(asked.map((handle) => handle.result()));
  assert.ok(scores.every((score) => score > 0));
  const effects = await bench.partners.effects({ kind: 'enquiry' });
  const times = effects.map(({ at }) => Date.parse(at));
  assert.equal(times.length, ENQUIRIES);
  const tookMs = Math.max(...times) - Math.min(...times);
  // A second's worth may go at once. Two workers that each kept the rate for themselves would be through
  // in half of that; two seconds are for a first request that was longer on its way than the last.
  const atLeastMs = (ENQUIRIES / RATE - 1) * 1_000 - 2_000;
  assert.ok(tookMs >= atLeastMs, `${tookMs} ms, not ${atLeastMs}`);
  for (const worker of workers) worker.kill('SIGTERM');
  for (const worker of workers) assert.equal((await worker).exitCode, 0);
});

/** An enquiry by itself, without its order: so that all of them wait before any worker is there. */
function enquire(n: number) {
  const id = { buyerId: 'acme', orderRef: `RATE-${n}` };
  const call = { id, revision: 1, again: false, limits: quickPolicy };
  const input: CreditInput = { ...call, amount: { currency: 'EUR', minor: 4_000 } };
  return bench.client.activity.start<number>('credit', {
    id: `${bench.taskQueue}-${n}`,
    taskQueue: partnerQueue(bench.taskQueue, 'bureau'),
    args: [input],
    // However busy the machine: it is the wait that must fail nothing.
    startToCloseTimeout: '2 minutes',
    retry: { maximumAttempts: 1 },
  });
}

describe('the setting of the rates', () => {
  test('changes those it names and leaves the others', () => {
    const rates = ratesSetting.parse(' payments=0.5, supplier = 1e3,');
    assert.deepEqual(rates, { ...defaultRates, payments: 0.5, supplier: 1_000 });
    assert.deepEqual(ratesSetting.parse(''), defaultRates);
  });

  for (const [what, text] of [
    ['an unknown partner', 'baker=3'],
    ['no number', 'payments=lots'],
    ['no value', 'payments'],
    ['an empty value', 'payments='],
    ['zero, which the engine takes for no limit', 'payments=0'],
    ['less than nothing', 'payments=-1'],
    ['no end', 'payments=Infinity'],
    ['two values', 'payments=1=2'],
    ['the same partner twice', 'payments=1,payments=2'],
  ] as const) {
    test(`refuses ${what} and names the entry`, () => {
      const { error } = ratesSetting.safeParse(text);
      const [entry] = text.split(',').slice(-1);
      assert.ok(error?.issues[0]?.message.startsWith(JSON.stringify(entry)), error?.message);
    });
  }
});
