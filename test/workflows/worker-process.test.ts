import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';

const LIMIT_MS = 60_000;
const script = fileURLToPath(new URL('../../workers/temporal.ts', import.meta.url));

let bench: OrderBench;
before(async () => {
  bench = await openBench({ worker: false });
});
after(() => bench.close());

function startProcess() {
  const bundle = process.env['Q2T_TEST_BUNDLE'];
  return execa(process.execPath, [script], {
    env: {
      ...isolatedEnv(process.env),
      TEMPORAL_ADDRESS: bench.address,
      PARTNERS_URL: bench.partnersUrl,
      DATABASE_URL: bench.databaseUrl,
      Q2T_TASK_QUEUE: bench.taskQueue,
      Q2T_STICKY_TIMEOUT_MS: '300',
      ...(bundle === undefined ? {} : { Q2T_BUNDLE: bundle }),
    },
    extendEnv: false,
    reject: false,
    // Ends the process with the test, whatever happens in it.
    cleanup: true,
    timeout: LIMIT_MS,
  });
}

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
  const first = startProcess();
  await bench.partners.waitUntilHeld({ faultId }, LIMIT_MS);
  first.kill('SIGTERM');
  await bench.partners.clearFault(faultId);
  const { exitCode, stdout } = await first;
  assert.equal(exitCode, 0, stdout);
  assert.ok(stdout.split('\n').some((line) => /"msg":"ready"/.test(line)));
  const { history } = await bench.position(id);
  assert.ok(!history.some(({ type }) => type === 'stuck'));

  const second = startProcess();
  const { outcome } = await bench.result(order);
  assert.equal(outcome, 'completed');
  assert.equal((await bench.partners.counts(reference)).charge, 1);
  second.kill('SIGTERM');
  assert.equal((await second).exitCode, 0);
});

test('a worker that lacks a setting says which one, and exits with 2', async () => {
  const { exitCode, stdout } = await execa(process.execPath, [script], {
    env: { ...isolatedEnv(process.env), DATABASE_URL: bench.databaseUrl },
    extendEnv: false,
    reject: false,
    timeout: LIMIT_MS,
  });
  assert.equal(exitCode, 2);
  assert.match(stdout, /PARTNERS_URL/);
});
