import { pino } from 'pino';
import { z } from 'zod';
import { migrate } from '../queue/migrations/migrate.ts';
import { startWorker } from '../queue/worker/start.ts';

/**
 * A worker of the hand-built implementation as a process. DATABASE_URL and PARTNERS_URL say where;
 * the Q2T_… ones bound what it does at the same time. Prints one line {"msg":"ready"} when it
 * receives; SIGTERM and SIGINT let it finish its steps and hand back its runs.
 */
const count = z.coerce.number().int().min(0).max(1_000);
const ms = z.coerce.number().int().min(1);
const environment = z.object({
  DATABASE_URL: z.string().min(1),
  PARTNERS_URL: z.url(),
  Q2T_ORDERS: count.default(8),
  Q2T_LINES: count.default(8),
  Q2T_MAILS: count.default(2),
  Q2T_VISIBILITY_MS: ms.default(15_000),
  Q2T_TIMER_EVERY_MS: ms.default(500),
  Q2T_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  Q2T_HOUSEKEEPING_MS: z.coerce.number().int().min(0).default(60_000),
});

const log = pino();
const parsed = environment.safeParse(process.env);
if (!parsed.success) {
  log.fatal(z.prettifyError(parsed.error));
  process.exit(2);
}
const settings = parsed.data;

await migrate(settings.DATABASE_URL);
const worker = await startWorker({
  databaseUrl: settings.DATABASE_URL,
  partnersUrl: settings.PARTNERS_URL,
  log,
  orders: settings.Q2T_ORDERS,
  lines: settings.Q2T_LINES,
  mails: settings.Q2T_MAILS,
  visibilityMs: settings.Q2T_VISIBILITY_MS,
  timerEveryMs: settings.Q2T_TIMER_EVERY_MS,
  metricsPort: settings.Q2T_METRICS_PORT,
  housekeepingEveryMs: settings.Q2T_HOUSEKEEPING_MS,
});
log.info({ worker: worker.engine.worker, port: worker.metricsPort }, 'ready');

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    log.info({ signal }, 'finishing what is under way');
    void worker.stop().then(() => log.info('stopped'));
  });
}
