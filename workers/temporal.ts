import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { openInvoices } from '../activities/invoices.ts';
import { openFileStore } from '../agent/store/files.ts';
import { openTemporal } from '../client/pipelines/temporal.ts';
import type { Pipeline } from '../core/contract.ts';
import { connectPartners } from '../partners/clients/connect.ts';
import { modelEnvironment } from '../partners/clients/model-settings.ts';
import { connectModel } from '../partners/clients/model.ts';
import { buildId, deploymentName, withDeployment } from './deployment.ts';
import { startOrderWorkers } from './order-workers.ts';
import { ratesSetting } from './rates.ts';
import { readSettings } from './settings.ts';

/**
 * The workers for purchase orders and for the buying agent as a process. TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the rest of the
 * SDK's own configuration say where the server is. Prints {"msg":"ready"} when it polls every queue;
 * SIGTERM and SIGINT let it finish what it is doing.
 */
const environment = z.object({
  PARTNERS_URL: z.url(),
  DATABASE_URL: z.url(),
  /**
   * The agent's claim-check store, a folder that all workers share. On one machine, where they are started in one
   * place, that is where everything else of the project's own is.
   */
  Q2T_STORE_DIR: z
    .string()
    .min(1)
    .default(join(process.cwd(), '.q2t', 'store', 'temporal')),
  Q2T_TASK_QUEUE: z.string().min(1).default('orders'),
  /** Activities a second that all workers together begin at a partner: `payments=50,supplier=100`. */
  Q2T_RATES: ratesSetting.prefault(''),
  /** How long a dead worker's runs stay reserved for it. The SDK's default is 10 s. */
  Q2T_STICKY_TIMEOUT_MS: z.coerce.number().int().positive().default(10_000),
  /** A bundle made by `npm run build`. Without one, the workflows are bundled now, in some seconds. */
  Q2T_BUNDLE: z.string().min(1).optional(),
  /** Both make this process a version of a worker deployment; without them it is unversioned. */
  Q2T_DEPLOYMENT: deploymentName.optional(),
  Q2T_BUILD_ID: buildId.optional(),
  Q2T_VERSIONING: z.enum(['pinned', 'auto-upgrade']).optional(),
});

const logger = pino();
const settings = readSettings(environment.transform(withDeployment).and(modelEnvironment), logger);
const { PARTNERS_URL, DATABASE_URL, Q2T_TASK_QUEUE, Q2T_RATES, Q2T_BUNDLE, deployment } = settings;

Runtime.install({
  logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
    // The partners' workers are meant to have none.
    if (message.startsWith('No workflows registered')) return;
    const log = {
      TRACE: 'trace',
      DEBUG: 'debug',
      INFO: 'info',
      WARN: 'warn',
      ERROR: 'error',
    } as const;
    logger[log[level]]({ ...meta }, message);
  }),
  shutdownSignals: ['SIGTERM', 'SIGINT'],
});

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = await NativeConnection.connect(connectionOptions);
const partners = connectPartners({ baseUrl: PARTNERS_URL });
const model = connectModel(settings);
const orders = ordersWhenAsked();
try {
  const invoices = await openInvoices(DATABASE_URL);
  try {
    const workers = await startOrderWorkers({
      connection,
      namespace,
      taskQueue: Q2T_TASK_QUEUE,
      rates: Q2T_RATES,
      partners,
      invoices,
      agent: { model, store: await openFileStore(settings.Q2T_STORE_DIR), orders },
      workflows:
        Q2T_BUNDLE === undefined
          ? { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) }
          : { workflowBundle: { codePath: Q2T_BUNDLE } },
      stickyTimeoutMs: settings.Q2T_STICKY_TIMEOUT_MS,
      ...(deployment && { deployment }),
    });
    logger.info({ taskQueue: Q2T_TASK_QUEUE, namespace, rates: Q2T_RATES, deployment }, 'ready');
    await workers.stopped;
  } finally {
    await invoices.close();
  }
} finally {
  await orders.close();
  await model.close();
  await partners.close();
  await connection.close();
}

/** A connection of its own, made with the first question: few workers are ever asked one. */
function ordersWhenAsked() {
  let opened: ReturnType<typeof openTemporal> | undefined;
  const open = () =>
    (opened ??= openTemporal({
      connection: connectionOptions,
      namespace,
      taskQueue: Q2T_TASK_QUEUE,
    }));
  return {
    submit: async (...args: Parameters<Pipeline['submit']>) => (await open()).submit(...args),
    where: async (...args: Parameters<Pipeline['where']>) => (await open()).where(...args),
    close: async () => (await opened)?.close(),
  };
}
