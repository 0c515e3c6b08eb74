import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { pino } from 'pino';
import type { PoolClient } from 'pg';
import { z } from 'zod';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Policy } from '../../../core/policy.ts';
import { connectPartners } from '../../../partners/clients/connect.ts';
import { openPool, withTransaction } from '../../../queue/database.ts';
import { startJoin } from '../../../queue/joins/start-join.ts';
import { createMetrics } from '../../../queue/metrics/metrics.ts';
import type { Engine } from '../../../queue/runs/engine.ts';
import type { Holding } from '../../../queue/runs/hold.ts';
import { storeInput } from '../../../queue/runs/input.ts';
import { oneSuspectAtATime } from '../../../queue/runs/suspects.ts';
import { take } from '../../../queue/runs/take.ts';
import { CURRENT_VERSION } from '../../../core/steps.ts';
import { pipelinesOf } from '../../../queue/steps/pipelines.ts';
import { openTransport } from '../../../queue/transport/open.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import { anOrder } from '../../support/orders.ts';
import { openBench } from './bench.ts';
import type { QueueBench } from './bench.ts';

export type ChildMessage = ReceivedMessage & { body: { joinId: string; childId: string } };

/** A worker's parts without its loops: the test is the loop, and decides what happens when. */
export interface IdleEngine {
  engine: Engine;
  drain: AbortController;
  /** A run that waits for its lines, without a message on the orders queue. Returns its join. */
  parkedForJoin(order: Order, policy: Policy): Promise<string>;
  /** The messages of one join's children, in order. On a bench without workers. */
  receiveChildren(joinId: string): Promise<ChildMessage[]>;
  client(): Promise<PoolClient>;
  close(): Promise<void>;
}

export async function idleEngine(
  { databaseUrl, partnersUrl }: { databaseUrl: string; partnersUrl: string },
  worker = 'test/idle',
): Promise<IdleEngine> {
  const pool = openPool({ url: databaseUrl, applicationName: worker, maxConnections: 10 });
  const transport = await openTransport({ pool, profile: 'postgres' });
  const partners = connectPartners({ baseUrl: partnersUrl });
  const drain = new AbortController();
  const clients = new Set<PoolClient>();
  const engine: Engine = {
    pool,
    transport,
    partners,
    pipelines: pipelinesOf(),
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    worker,
    draining: drain.signal,
    suspects: oneSuspectAtATime(),
    random: Math.random,
  };
  return {
    engine,
    drain,
    async parkedForJoin(order, policy) {
      const id = orderIdOf(order);
      const runId = businessKey(id);
      const joinId = `${runId}/r1/price`;
      await withTransaction(pool, async (tx) => {
        await tx.query(
          `INSERT INTO queue.run (id, buyer_id, order_ref, content_hash, version, step, status, parked_for)
           VALUES ($1, $2, $3, 'x', $4, 'price', 'running', 'join')`,
          [runId, id.buyerId, id.orderRef, CURRENT_VERSION],
        );
        await storeInput(tx, runId, { order, policy, revision: 1 });
        const children = order.lines.map(({ lineId, sku }) => ({
          childId: lineId,
          input: { supplierId: order.supplierId, currency: order.currency, sku },
        }));
        await startJoin(tx, transport, { joinId, runId, queue: 'lines', width: 8, children });
      });
      return joinId;
    },
    async receiveChildren(joinId) {
      const options = { max: 10, visibilityMs: 3_600_000, waitMs: 0 };
      const received = await transport.receive('lines', options);
      return received
        .map((message) => ({ ...message, body: childOf(message.body) }))
        .filter(({ body }) => body.joinId === joinId)
        .sort((a, b) => Number(a.body.childId) - Number(b.body.childId));
    },
    async client() {
      const client = await pool.connect();
      clients.add(client);
      return client;
    },
    async close() {
      for (const client of clients) client.release();
      await partners.close();
      await transport.close();
      await pool.end();
    },
  };
}

/** A run in the test's hands, with the only message it has. */
export interface RunInHand {
  order: Order;
  id: OrderId;
  runId: string;
  message: ReceivedMessage;
  take: () => Promise<Holding>;
  /** Lets its lease run out, as if its worker had died a while ago. */
  lose: () => Promise<void>;
}

/** What stands at the head of a suite that drives the engine itself: a bench without workers. */
export interface Idle {
  readonly bench: QueueBench;
  readonly idle: IdleEngine;
  /** Receives one message of the orders queue, hidden for an hour. */
  receive(): Promise<ReceivedMessage | undefined>;
  /** Submits an order of one line and receives its wake-up. */
  submitted(policy: Policy): Promise<RunInHand>;
  lose(runId: string): Promise<void>;
}

/** Opens the bench before the tests of the `describe` it is called in, and closes it after them. */
export function useIdle(): Idle {
  let open: { bench: QueueBench; idle: IdleEngine } | undefined;
  before(async () => {
    const bench = await openBench({ workers: 0 });
    open = { bench, idle: await idleEngine(bench) };
  });
  after(async () => {
    await open?.idle.close();
    await open?.bench.close();
  });
  const opened = () => {
    assert.ok(open, 'used before the tests began');
    return open;
  };
  const on: Idle = {
    get bench() {
      return opened().bench;
    },
    get idle() {
      return opened().idle;
    },
    async receive() {
      const options = { max: 1, visibilityMs: 3_600_000, waitMs: 0 };
      return (await on.idle.engine.transport.receive('orders', options))[0];
    },
    async submitted(policy) {
      const order = anOrder();
      const id = orderIdOf(order);
      const runId = businessKey(id);
      await on.bench.pipeline.submit(order, policy);
      const message = await on.receive();
      assert.ok(message, 'no wake-up came');
      return {
        ...{ order, id, runId, message },
        async take() {
          const taken = await take(on.idle.engine, runId, message, true);
          assert.ok(typeof taken !== 'string', `not taken: ${JSON.stringify(taken)}`);
          return taken;
        },
        lose: () => on.lose(runId),
      };
    },
    async lose(runId) {
      await on.bench.pool.query(
        `UPDATE queue.run SET lease_until = statement_timestamp() - interval '1 second'
         WHERE id = $1 AND lease_until IS NOT NULL`,
        [runId],
      );
    },
  };
  return on;
}

function childOf(body: unknown): { joinId: string; childId: string } {
  return z.object({ joinId: z.string(), childId: z.string() }).parse(body);
}
