import { fileURLToPath } from 'node:url';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { createActivities } from '../activities/index.ts';
import { openInvoices } from '../activities/invoices.ts';
import { connectPartners } from '../partners/clients/connect.ts';

/**
 * A worker for purchase orders as a process. TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the rest of the
 * SDK's own configuration say where the server is. Prints {"msg":"ready"} when it polls; SIGTERM and
 * SIGINT let it finish what it is doing.
 */
const environment = z.object({
  PARTNERS_URL: z.url(),
  DATABASE_URL: z.url(),
  Q2T_TASK_QUEUE: z.string().min(1).default('orders'),
  /** How long a dead worker's runs stay reserved for it. The SDK's default is 10 s. */
  Q2T_STICKY_TIMEOUT_MS: z.coerce.number().int().positive().default(10_000),
  /** A bundle made by `npm run build`. Without one, the workflows are bundled now, in some seconds. */
  Q2T_BUNDLE: z.string().min(1).optional(),
});

const logger = pino();
const settings = environment.safeParse(process.env);
if (!settings.success) {
  logger.fatal(z.prettifyError(settings.error));
  process.exit(2);
}
const { PARTNERS_URL, DATABASE_URL, Q2T_TASK_QUEUE, Q2T_STICKY_TIMEOUT_MS, Q2T_BUNDLE } =
  settings.data;

Runtime.install({
  logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
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
try {
  const invoices = await openInvoices(DATABASE_URL);
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: Q2T_TASK_QUEUE,
      activities: createActivities({ partners, invoices }),
      ...(Q2T_BUNDLE === undefined
        ? { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) }
        : { workflowBundle: { codePath: Q2T_BUNDLE } }),
      // Enough for a hundred orders at once; a partner sees eight requests of one order at most.
      maxConcurrentActivityTaskExecutions: 100,
      maxConcurrentWorkflowTaskExecutions: 40,
      stickyQueueScheduleToStartTimeout: Q2T_STICKY_TIMEOUT_MS,
      // A call to a partner ends within its own 10 s: let it, before activities are told to stop.
      shutdownGraceTime: '15s',
      shutdownForceTime: '30s',
    });
    const polling = worker.run();
    logger.info({ taskQueue: Q2T_TASK_QUEUE, namespace }, 'ready');
    await polling;
  } finally {
    await invoices.close();
  }
} finally {
  await partners.close();
  await connection.close();
}
