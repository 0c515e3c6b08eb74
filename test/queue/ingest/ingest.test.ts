import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import type { Pipeline } from '../../../core/contract.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import { connect } from '../../../queue/connect.ts';
import { INGEST_QUEUE, startAccepting } from '../../../queue/ingest/accept.ts';
import { batchedSend } from '../../../queue/ingest/batched-send.ts';
import { forward } from '../../../queue/ingest/forward.ts';
import { openQueue } from '../../../queue/open.ts';
import { anOrder } from '../../support/orders.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

const log = pino({ level: 'silent' });
const database = await freshDatabase();
const pipeline = await openQueue({ databaseUrl: database.url });
const pooling = { url: database.url, applicationName: 'test-ingest', maxConnections: 3 };
const { pool, transport, close } = await connect(pooling, { profile: 'sqs' });
const accepting = await startAccepting({ pool, transport, log });

after(async () => {
  await accepting.close();
  await close();
  await pipeline.close();
  await database.drop();
});

async function post(body: string, contentType = 'application/json') {
  const response = await fetch(`${accepting.url}/orders`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  });
  const answer = (await response.json()) as { faults?: { path: string; message: string }[] };
  return { status: response.status, faults: answer.faults ?? [] };
}

/** Hands on what was accepted until `done`, into `into`. */
async function forwardUntil(into: Pipeline, done: () => Promise<true | undefined>): Promise<void> {
  const stop = new AbortController();
  const options = { transport, pipeline: into, concurrency: 2, visibilityMs: 5_000, log };
  const forwarding = forward({ ...options, stop: stop.signal });
  try {
    await until('everything was handed on', done);
  } finally {
    stop.abort();
    await forwarding;
  }
}

const handedOn = async (): Promise<true | undefined> => {
  const { available, inFlight, delayed } = await transport.counts(INGEST_QUEUE);
  return available + inFlight + delayed === 0 ? true : undefined;
};

test('an accepted order is durable, and its run is started when it is handed on', async () => {
  const order = anOrder();
  assert.equal((await post(JSON.stringify(order))).status, 202);
  assert.deepEqual(await pipeline.where(orderIdOf(order)), { kind: 'not-found' });
  assert.equal((await transport.counts(INGEST_QUEUE)).available, 1);
  await forwardUntil(pipeline, handedOn);
  assert.equal((await pipeline.where(orderIdOf(order))).kind, 'position');
});

test('a bad order is refused with every fault named, and a list of orders too', async () => {
  const bad = { ...anOrder(), currency: 'XXX', lines: [] };
  const { status, faults } = await post(JSON.stringify(bad));
  assert.equal(status, 400);
  assert.deepEqual(faults.map(({ path }) => path).toSorted(), ['currency', 'lines']);
  assert.equal((await post(JSON.stringify([anOrder(), anOrder()]))).status, 400);
  assert.equal((await post('<Order', 'application/xml')).status, 400);
  assert.equal((await transport.counts(INGEST_QUEUE)).available, 0);
});

test('an order too large for a message is refused, not cut', async () => {
  const large = await post(
    JSON.stringify(anOrder({ lines: 2_400, sku: 'A-VERY-LONG-ARTICLE-NUMBER-' })),
  );
  assert.equal(large.status, 413);
  assert.match(large.faults[0]?.message ?? '', /more than 262144/);
});

test('the same order sent twice is one run; other content under its reference is a dead letter', async () => {
  const order = anOrder();
  const other: Order = { ...order, supplierId: 'sup_other' };
  for (const each of [order, order, other]) await post(JSON.stringify(each));
  await forwardUntil(pipeline, handedOn);
  const [dead, ...more] = await transport.deadMessages(INGEST_QUEUE);
  assert.match(dead?.reason ?? '', /another order under the same reference/);
  assert.deepEqual(more, []);
});

test('while the pipeline is away messages wait, and none comes nearer to the dead letters', async () => {
  const order = anOrder();
  await post(JSON.stringify(order));
  let refused = 0;
  const away: Pipeline = {
    ...pipeline,
    submit: (...args) => {
      refused += 1;
      return refused <= 3 ? Promise.reject(new Error('not reachable')) : pipeline.submit(...args);
    },
  };
  await forwardUntil(away, handedOn);
  assert.equal(refused, 4);
  assert.equal((await pipeline.where(orderIdOf(order))).kind, 'position');
});

test('sends that come while a commit is under way share the next one', async () => {
  const before = await commits();
  const send = batchedSend(transport, pool, 'shared');
  await Promise.all(Array.from({ length: 40 }, (_, n) => send({ body: { n } })));
  assert.equal((await transport.counts('shared')).available, 40);
  // Ten a send is what SQS allows; the first one goes alone.
  assert.equal(before.batches, 0);
  assert.equal((await commits()).batches, 5);
});

/** How many transactions wrote the messages of that test. */
async function commits(): Promise<{ batches: number }> {
  const { rows } = await pool.query<{ batches: number }>(
    "SELECT count(DISTINCT xmin::text)::int AS batches FROM queue.message WHERE queue = 'shared'",
  );
  return { batches: rows[0]?.batches ?? 0 };
}
