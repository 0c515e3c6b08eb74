import type { ClientBase } from 'pg';
import { openTemporal } from '../../../client/pipelines/temporal.ts';
import type { Pipeline } from '../../../core/contract.ts';
import type { Order } from '../../../core/order/schema.ts';
import { toRunInput } from '../../../core/order/run-input.ts';
import type { Policy } from '../../../core/policy.ts';
import { CHAIN_QUEUE } from '../../../queue/chain/handle.ts';
import { connect } from '../../../queue/connect.ts';
import { withTransaction } from '../../../queue/database.ts';
import { openChain, openQueue } from '../../../queue/open.ts';
import { submitIn } from '../../../queue/runs/submit.ts';
import type { ProducerJob } from './job.ts';

/**
 * A shop that keeps a row of its own for every request and has it carried out. It carries out the request
 * it is given, if any, then what is noted from before, and ends.
 */
const job = JSON.parse(process.env['Q2T_LAB_PRODUCER'] ?? '') as ProducerJob;
const shop = await connect(
  { url: job.databaseUrl, applicationName: 'producer', maxConnections: 1 },
  { profile: 'postgres' },
);
const pipeline = await open();
try {
  if (job.request) await carryOut(job.request);
  if (job.way === 'outbox') await relay();
} finally {
  await pipeline.close();
  await shop.close();
}

async function carryOut(request: NonNullable<ProducerJob['request']>): Promise<void> {
  const { order, policy } = request;
  await withTransaction(shop.pool, async (tx) => {
    await tx.query('INSERT INTO request (order_ref) VALUES ($1)', [order.orderRef]);
    if (job.way === 'outbox') {
      const note = 'INSERT INTO to_start (order_ref, request) VALUES ($1, $2)';
      await tx.query(note, [order.orderRef, JSON.stringify(request)]);
    }
    if (job.way === 'same-transaction') await publishIn(tx, order, policy);
  });
  if (job.way === 'publish') await pipeline.submit(order, policy);
}

async function publishIn(tx: ClientBase, order: Order, policy: Policy): Promise<void> {
  if (job.on === 'queue') await submitIn(tx, shop.transport, order, policy);
  else {
    const body = { step: 'price', input: toRunInput(order, policy, new Date()) };
    await shop.transport.send(tx, CHAIN_QUEUE, [{ body }]);
  }
}

/** Start first, strike out after: dying in between starts it twice, which the order's identity answers. */
async function relay(): Promise<void> {
  const { rows } = await shop.pool.query<{ order_ref: string; request: ProducerJob['request'] }>(
    'SELECT order_ref, request FROM to_start ORDER BY order_ref',
  );
  for (const { order_ref, request } of rows) {
    if (request) await pipeline.submit(request.order, request.policy);
    await shop.pool.query('DELETE FROM to_start WHERE order_ref = $1', [order_ref]);
  }
}

function open(): Promise<Pipeline> {
  if (job.on === 'temporal') return openTemporal(job.temporal);
  const target = { databaseUrl: job.pipelineUrl };
  return job.on === 'queue' ? openQueue(target) : openChain(target);
}
