import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Pipeline } from '../../../core/contract.ts';
import type { Order } from '../../../core/order/schema.ts';
import { openChain } from '../../../queue/open.ts';
import { anOrder, quickPolicy as policy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { longestDelayMs, SQS_ENV } from './sqs.ts';

const WORKER = fileURLToPath(new URL('../../../workers/chain.ts', import.meta.url));
const DAY_MS = 24 * 3_600_000;

describe('the chain within the limits of SQS', () => {
  let bench: QueueBench;
  let chain: Pipeline;
  let stop: () => Promise<void>;
  before(async () => {
    bench = await openBench({ workers: 0 });
    chain = await openChain({ databaseUrl: bench.databaseUrl, profile: 'sqs' });
    const worker = spawn(process.execPath, [WORKER], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: bench.databaseUrl,
        PARTNERS_URL: bench.partnersUrl,
        ...SQS_ENV,
      },
    });
    const exited = once(worker, 'exit');
    stop = async () => {
      worker.kill('SIGTERM');
      assert.deepEqual(await exited, [0, null]);
    };
    for await (const line of createInterface({ input: worker.stdout })) {
      if (line.includes('"ready"')) break;
    }
  });
  after(async () => {
    await chain.close();
    await stop();
    await bench.close();
  });
  afterEach(async () => {
    await bench.partners.clearFault();
    await bench.pool.query(`DELETE FROM queue.message WHERE queue = 'chain'`);
  });

  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const longestDelay = () => longestDelayMs(bench.pool);
  const links = async (order: Order) => {
    const { rowCount } = await bench.pool.query(
      `SELECT FROM queue.message WHERE queue = 'chain' AND body::text LIKE '%' || $1 || '%'`,
      [order.orderRef],
    );
    return rowCount ?? 0;
  };

  test('carries a plain order out', async () => {
    const order = anOrder();
    await chain.submit(order, policy);
    await until('it is through', async () => (await links(order)) === 0);
    const counts = await bench.partners.counts(refOf(order));
    const { charge, reservation, order: placed, mail } = counts;
    assert.deepEqual([charge, reservation, placed, mail], [1, 1, 1, 1]);
  });

  test('refuses an order that is larger than a message may be, and says what to do', async () => {
    const order = anOrder({ lines: 2_500, sku: 'a-rather-long-article-number-' });
    await assert.rejects(chain.submit(order, policy), {
      name: 'LimitError',
      message: /brings the send to \d+ bytes, more than 262144: store it and send a reference/,
    });
    assert.equal(await links(order), 0);
  });

  test('passes a charge date on, 15 minutes at a time', async () => {
    const chargeOn = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10);
    const order = anOrder({}, { chargeOn });
    await chain.submit(order, policy);
    await until('it waits', async () => (await longestDelay()) > 800_000);
    assert.ok((await longestDelay()) <= 900_000);
  });

  test('asks a partner that wants an hour again after 15 minutes: it has nowhere to keep the time', async () => {
    const order = anOrder();
    await bench.partners.setFault({
      partner: 'warehouse',
      operation: 'reserve',
      reference: refOf(order),
      effect: { kind: 'status', status: 503, retryAfter: 3_600 },
    });
    await chain.submit(order, policy);
    await until('it waits', async () => (await longestDelay()) > 800_000);
    assert.ok((await longestDelay()) <= 900_000);
  });
});
