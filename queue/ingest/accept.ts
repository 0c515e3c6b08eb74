import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { businessKey } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import { readOrders } from '../../core/order/read/read.ts';
import { orderLimits } from '../../core/policy.ts';
import type { Transport } from '../transport/contract.ts';
import { checkBodies, LimitError } from '../transport/limits.ts';
import { batchedSend } from './batched-send.ts';

/** Orders that were accepted and not yet handed on. */
export const INGEST_QUEUE = 'ingest';

export interface Accepting {
  url: string;
  close(): Promise<void>;
}

export interface AcceptOptions {
  pool: Pool;
  transport: Transport;
  /** Default 127.0.0.1: there is no authentication here. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  log: Logger;
}

/**
 * `POST /orders` with one order as JSON or UBL: 202 once its message is durable, 400 with every fault
 * named, 413 for one too large for a message, 503 when the database does not take it (send it again:
 * the same order twice is one order). `GET /health` gives the counts of the queue. Rejects when the
 * port is taken.
 */
export async function startAccepting(options: AcceptOptions): Promise<Accepting> {
  const { pool, transport, host = '127.0.0.1', port = 0, log } = options;
  const send = batchedSend(transport, pool, INGEST_QUEUE);
  const app = fastify({ bodyLimit: orderLimits.maxOrderBytes, forceCloseConnections: true });
  const asBytes = { parseAs: 'buffer' } as const;
  // Read by the same code as a file on the command line, so that the same orders are refused.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', asBytes, (_request, body, done) => done(null, body));

  app.post('/orders', async (request: FastifyRequest<{ Body: Buffer }>, reply) => {
    const isXml = /xml/.test(request.headers['content-type'] ?? '');
    const read = readOrders(request.body, isXml ? 'order.xml' : 'order.json');
    if (!read.ok) return reply.code(400).send({ faults: read.faults });
    const [order, ...more] = read.orders;
    if (!order || more.length > 0) return refuse(reply, 400, 'send one order at a time');
    try {
      checkBodies(transport.limits, [order]);
      await send({ body: order, key: businessKey(orderIdOf(order)) });
    } catch (error) {
      if (error instanceof LimitError) return refuse(reply, 413, error.message);
      log.error({ err: error, orderRef: order.orderRef }, 'not accepted');
      return refuse(reply, 503, 'the order could not be kept; send it again');
    }
    return reply.code(202).send({ accepted: order.orderRef });
  });
  app.get('/health', () => transport.counts(INGEST_QUEUE));

  const url = await app.listen({ host, port });
  return { url, close: () => app.close() };
}

function refuse(reply: FastifyReply, code: number, message: string) {
  return reply.code(code).send({ faults: [{ path: '', message }] });
}
