import pg from 'pg';
import { pino } from 'pino';
import type { Pipeline, Position, RunPosition } from '../../../core/contract.ts';
import type { HistoryEvent } from '../../../core/history.ts';
import type { OrderId } from '../../../core/identity.ts';
import { shiftDueRows } from '../../../lab/time/queue.ts';
import { controlPartners } from '../../../partners/control.ts';
import type { PartnersControl } from '../../../partners/control.ts';
import { startPartners } from '../../../partners/server/server.ts';
import { openQueue } from '../../../queue/open.ts';
import { startWorker } from '../../../queue/worker/start.ts';
import type { RunningWorker, WorkerSettings } from '../../../queue/worker/start.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { untilPosition } from '../../support/until.ts';

/** The real thing: a database of its own, the partners' server, the pipeline, workers in this process. */
export interface QueueBench {
  pipeline: Pipeline;
  partners: PartnersControl;
  partnersUrl: string;
  databaseUrl: string;
  pool: pg.Pool;
  startWorker(changes?: Partial<WorkerSettings>): Promise<RunningWorker>;
  position(id: OrderId): Promise<Position>;
  /** Polls until the run's position is as wanted. Throws, with the position, when it is not so in time. */
  until(id: OrderId, wanted: (position: Position) => boolean): Promise<Position>;
  ended(id: OrderId): Promise<Position>;
  /** Moves the run's clock: everything that is due for it comes `ms` nearer. */
  shift(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function openBench({ workers = 1 } = {}): Promise<QueueBench> {
  const database = await freshDatabase();
  const server = await startPartners();
  const pipeline = await openQueue({ databaseUrl: database.url, user: 'tester' });
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  pool.on('error', () => undefined);
  const running = new Set<RunningWorker>();

  async function position(id: OrderId): Promise<Position> {
    const answer = await pipeline.where(id);
    if (answer.kind !== 'position') throw new Error(`where answered ${answer.kind}`);
    return answer.position;
  }

  const until = (id: OrderId, wanted: (position: Position) => boolean) =>
    untilPosition(() => position(id), wanted);

  const bench: QueueBench = {
    pipeline,
    partners: controlPartners(server.url),
    partnersUrl: server.url,
    databaseUrl: database.url,
    pool,
    async startWorker(changes = {}) {
      const worker = await startWorker({
        databaseUrl: database.url,
        partnersUrl: server.url,
        log: pino({ level: process.env['Q2T_TEST_LOG'] ?? 'silent' }),
        orders: 4,
        lines: 4,
        mails: 1,
        visibilityMs: 2_000,
        timerEveryMs: 20,
        housekeepingEveryMs: 0,
        ...changes,
      });
      running.add(worker);
      return {
        engine: worker.engine,
        metricsPort: worker.metricsPort,
        stop: async () => {
          running.delete(worker);
          await worker.stop();
        },
      };
    },
    position,
    until,
    ended: (id) => until(id, ({ status }) => status === 'ended'),
    shift: (id, ms) => shiftDueRows(pool, id, ms),
    async close() {
      await server.close();
      await Promise.all([...running].map((worker) => worker.stop()));
      await pipeline.close();
      await pool.end();
      await database.drop();
    },
  };
  for (let n = 0; n < workers; n += 1) await bench.startWorker();
  return bench;
}

/** The history without its times, for comparing. */
export function eventsOf(position: Pick<RunPosition, 'history'>): HistoryEvent[] {
  return position.history.map((entry) => {
    const { at, ...event } = entry;
    void at;
    return event;
  });
}

/** The history as a line of types, with the step or gate where there is one. */
export function storyOf(position: Pick<RunPosition, 'history'>): string[] {
  return eventsOf(position).map((event) => {
    switch (event.type) {
      case 'step-done':
      case 'undo-done':
      case 'undo-failed':
      case 'stuck':
      case 'waiting':
      case 'replayed':
      case 'discarded':
      case 'fixed':
        return `${event.type} ${event.step}`;
      case 'decision-conflict':
        return `${event.type} ${event.conflict}`;
      case 'ended':
      case 'order-ended':
        return `${event.type} ${event.outcome}`;
      case 'thought':
      case 'used':
        return `${event.type} ${event.tools.join(' ')}`.trim();
      default:
        return event.type;
    }
  });
}
