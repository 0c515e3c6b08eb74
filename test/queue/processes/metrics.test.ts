import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

describe('a worker process of the queue', () => {
  let bench: QueueBench;
  let worker: WorkerProcess;
  before(async () => {
    bench = await openBench({ workers: 0 });
    worker = await startWorkerProcess(bench, { Q2T_HOUSEKEEPING_MS: '200' });
  });
  after(async () => {
    worker.signal('SIGKILL');
    await worker.exited;
    await bench.close();
  });

  const get = (path: string) => fetch(`http://127.0.0.1:${worker.port}/${path}`);
  async function metric(name: string): Promise<number> {
    const text = await (await get('metrics')).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    assert.ok(line, `no ${name} in\n${text}`);
    return Number(line.slice(name.length));
  }

  test('tells its health, and the depth, rates, refusals and ages that an operator watches', async () => {
    const order = anOrder();
    await bench.partners.setFault({
      partner: 'supplier',
      operation: 'place',
      times: 1,
      effect: { kind: 'drop-after' },
    });
    await bench.pipeline.submit(order, quickPolicy);
    await bench.ended(orderIdOf(order));
    const health = await get('health');
    assert.equal(health.status, 200);
    assert.match(await health.text(), /"status":"ok"/);
    assert.equal(await metric('q2t_failures_total{step="place",class="unknown"}'), 1);
    assert.equal(await metric('q2t_duplicate_effects_prevented_total{partner="supplier"}'), 1);
    assert.equal(await metric('q2t_queue_messages{queue="orders",state="dead"}'), 0);
    assert.equal(await metric('q2t_runs_ended_last_minute'), 1);
    assert.equal(await metric('q2t_double_effects'), 0);
    await until('the canary was seen', async () =>
      Number.isFinite(await metric('q2t_canary_age_seconds')),
    );
    assert.ok(Number.isNaN(await metric('q2t_dead_letters_last_look_seconds')));
    await bench.pipeline.deadLetters.list();
    assert.ok((await metric('q2t_dead_letters_last_look_seconds')) < 60);
  });

  test('logs what failed with the run, the step, the attempt and the token', () => {
    const entry = worker.log.find(({ msg }) => msg === 'attempt failed');
    assert.ok(entry);
    assert.deepEqual(
      ['runId', 'step', 'attempt', 'token'].map((name) => typeof entry[name]),
      ['string', 'string', 'number', 'string'],
    );
  });

  test('refuses to start without an address, and says which', async () => {
    await assert.rejects(startWorkerProcess({ databaseUrl: '', partnersUrl: 'x' }), /DATABASE_URL/);
  });
});
