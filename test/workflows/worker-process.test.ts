import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { runWorkerScript, startWorkerProcess } from './worker-script.ts';

const LIMIT_MS = 60_000;

let bench: OrderBench;
before(async () => {
  bench = await openBench({ worker: false });
});
after(() => bench.close());

test('B11: a worker that is told to stop lets its charge report, exits with 0, and the next one goes on', async () => {
  const order = anOrder();
  const id = orderIdOf(order);
  const reference = businessKey(id);
  const faultId = await bench.partners.setFault({
    partner: 'payments',
    operation: 'charge',
    reference,
    effect: { kind: 'hang-after' },
  });
  const policy = { ...quickPolicy, partnerTimeoutMs: 15_000 };
  await bench.pipeline.submit(order, policy);
  const first = startWorkerProcess(bench);
  await bench.partners.waitUntilHeld({ faultId }, LIMIT_MS);
  first.kill('SIGTERM');
  await bench.partners.clearFault(faultId);
  const { exitCode, stdout } = await first;
  assert.equal(exitCode, 0, stdout);
  assert.ok(stdout.split('\n').some((line) => /"msg":"ready"/.test(line)));
  const { history } = await bench.position(id);
  assert.ok(!history.some(({ type }) => type === 'stuck'));

  const second = startWorkerProcess(bench);
  const { outcome } = await bench.result(order);
  assert.equal(outcome, 'completed');
  assert.equal((await bench.partners.counts(reference)).charge, 1);
  second.kill('SIGTERM');
  assert.equal((await second).exitCode, 0);
});

test('a worker that lacks a setting says which one, and exits with 2', async () => {
  const { exitCode, stdout } = await runWorkerScript({ DATABASE_URL: bench.databaseUrl });
  assert.equal(exitCode, 2);
  assert.match(stdout, /PARTNERS_URL/);
});

test('rates that are none are refused by entry, with what they should be, and exit code 2', async () => {
  const { exitCode, stdout } = await runWorkerScript({
    DATABASE_URL: bench.databaseUrl,
    PARTNERS_URL: bench.partnersUrl,
    Q2T_RATES: 'payments=lots, baker=3',
  });
  assert.equal(exitCode, 2);
  assert.match(stdout, /payments=lots.*above 0.*baker=3.*payments, bureau, warehouse.*Q2T_RATES/s);
});
