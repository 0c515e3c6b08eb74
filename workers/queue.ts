import { resolve } from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { migrate } from '../queue/migrations/migrate.ts';
import { defaultRetention } from '../queue/pruning/retention.ts';
import { pipelinesFor } from '../queue/steps/pipelines.ts';
import { PROFILE_NAMES } from '../queue/transport/limits.ts';
import { startWorker } from '../queue/worker/start.ts';
import { modelEnvironment } from '../partners/clients/model-settings.ts';
import { namedRates } from './rates.ts';
import { readSettings } from './settings.ts';

/**
 * A worker of the hand-built implementation as a process. DATABASE_URL and PARTNERS_URL say where;
 * behind a pooler, Q2T_MIGRATIONS_URL is the database itself. Q2T_RATES bounds the requests of all
 * workers to a partner, the other Q2T_… ones what this one does. Prints one line {"msg":"ready"} when
 * it receives; SIGTERM and SIGINT let it finish its steps and hand back its runs.
 */
const count = z.coerce.number().int().min(0).max(1_000);
const ms = z.coerce.number().int().min(1);
const versionsSetting = z.string().transform((text, context) => {
  try {
    return pipelinesFor(text.split(',').map((version) => version.trim()));
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error));
    return z.NEVER;
  }
});
const days = z.coerce.number().int().min(1).max(36_600);
const DAY_MS = 24 * 3_600_000;
const environment = z.object({
  DATABASE_URL: z.string().min(1),
  Q2T_MIGRATIONS_URL: z.string().min(1).optional(),
  PARTNERS_URL: z.url(),
  Q2T_TRANSPORT_PROFILE: z.enum(PROFILE_NAMES).default('postgres'),
  Q2T_RATES: namedRates.prefault(''),
  /** Versions of the pipeline to work on, `1,2`. Default: all that the code has. */
  Q2T_VERSIONS: versionsSetting.optional(),
  Q2T_ORDERS: count.default(8),
  Q2T_LINES: count.default(8),
  Q2T_MAILS: count.default(2),
  /** Runs of the agent; 0: this worker leaves them alone. */
  Q2T_AGENTS: count.default(4),
  /** The claim-check store, on a disk that all workers share. */
  Q2T_STORE_DIR: z.string().min(1).default('.q2t/store/queue'),
  Q2T_VISIBILITY_MS: ms.default(15_000),
  Q2T_TIMER_EVERY_MS: ms.default(500),
  Q2T_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  Q2T_HOUSEKEEPING_MS: z.coerce.number().int().min(0).default(60_000),
  Q2T_DETAILS_RETENTION_DAYS: days.default(defaultRetention.detailsMs / DAY_MS),
  Q2T_LEDGER_RETENTION_DAYS: days.default(defaultRetention.ledgerMs / DAY_MS),
});

const log = pino();
const settings = readSettings(environment, log);
const model = readSettings(modelEnvironment, log);

await migrate(settings.Q2T_MIGRATIONS_URL ?? settings.DATABASE_URL);
const starting = startWorker({
  databaseUrl: settings.DATABASE_URL,
  partnersUrl: settings.PARTNERS_URL,
  log,
  profile: settings.Q2T_TRANSPORT_PROFILE,
  rates: settings.Q2T_RATES,
  ...(settings.Q2T_VERSIONS && { pipelines: settings.Q2T_VERSIONS }),
  orders: settings.Q2T_ORDERS,
  lines: settings.Q2T_LINES,
  mails: settings.Q2T_MAILS,
  ...(settings.Q2T_AGENTS > 0 && {
    agents: {
      concurrency: settings.Q2T_AGENTS,
      storeDir: resolve(settings.Q2T_STORE_DIR),
      model,
    },
  }),
  visibilityMs: settings.Q2T_VISIBILITY_MS,
  timerEveryMs: settings.Q2T_TIMER_EVERY_MS,
  metricsPort: settings.Q2T_METRICS_PORT,
  housekeepingEveryMs: settings.Q2T_HOUSEKEEPING_MS,
  retention: {
    detailsMs: settings.Q2T_DETAILS_RETENTION_DAYS * DAY_MS,
    ledgerMs: settings.Q2T_LEDGER_RETENTION_DAYS * DAY_MS,
  },
});
// Others may see it and stop it before it is ready.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    log.info({ signal }, 'finishing what is under way');
    void starting.then((worker) => worker.stop()).then(() => log.info('stopped'));
  });
}
const { engine, metricsPort } = await starting;
log.info({ worker: engine.worker, port: metricsPort }, 'ready');
