import { fastify } from 'fastify';
import type { Engine } from '../runs/engine.ts';
import { gaugesOf } from './gauges.ts';
import { observe } from './observe.ts';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/**
 * `GET /health` (200 when the database answers, else 503) and `GET /metrics` for Prometheus, on
 * 127.0.0.1. Port 0 takes a free one. Rejects when the port is taken.
 */
export async function startMetricsServer(engine: Engine, port: number): Promise<MetricsServer> {
  const { pool, transport, metrics, worker } = engine;
  const setGauges = gaugesOf(metrics);
  const app = fastify();
  app.get('/health', async (_request, reply) => {
    const { state } = transport.hints;
    try {
      await pool.query('SELECT 1');
      return { status: engine.draining.aborted ? 'draining' : 'ok', worker, hints: state };
    } catch {
      return reply.code(503).send({ status: 'the database does not answer', worker });
    }
  });
  app.get('/metrics', async (_request, reply) => {
    setGauges(await observe(pool, transport));
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  const url = await app.listen({ host: '127.0.0.1', port });
  return { port: Number(new URL(url).port), close: () => app.close() };
}
