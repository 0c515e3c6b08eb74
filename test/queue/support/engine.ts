import { pino } from 'pino';
import type { PoolClient } from 'pg';
import { z } from 'zod';
import { businessKey } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Policy } from '../../../core/policy.ts';
import { connectPartners } from '../../../partners/clients/connect.ts';
import { openPool, withTransaction } from '../../../queue/database.ts';
import { startJoin } from '../../../queue/joins/start-join.ts';
import { createMetrics } from '../../../queue/metrics/metrics.ts';
import type { Engine } from '../../../queue/runs/engine.ts';
import { storeInput } from '../../../queue/runs/input.ts';
import { oneSuspectAtATime } from '../../../queue/runs/suspects.ts';
import { CURRENT_VERSION, pipelinesOf } from '../../../queue/steps/pipelines.ts';
import { openTransport } from '../../../queue/transport/open.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';

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

function childOf(body: unknown): { joinId: string; childId: string } {
  return z.object({ joinId: z.string(), childId: z.string() }).parse(body);
}
