import { NativeConnection, Worker } from '@temporalio/worker';
import type { WorkerOptions } from '@temporalio/worker';
import { openInvoices } from '../../activities/invoices.ts';
import { localActivities, partnerActivities } from '../../activities/index.ts';
import { partnerQueue } from '../../activities/partner-queues.ts';
import { connectPartners } from '../../partners/clients/connect.ts';
import { ORDER_PARTNERS } from '../../partners/contract.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { workflowBundle } from '../support/temporal.ts';

/**
 * The workers of a bench in two parts, so that activities go on while nobody takes workflow tasks: what
 * happens meanwhile comes to a run in one task.
 */
export interface SplitWorkers {
  /** Takes workflow tasks while `work` goes on. */
  whileOrdersRun<T>(work: () => Promise<T>, options?: Partial<WorkerOptions>): Promise<T>;
  close(): Promise<void>;
}

/** Starts the part for the partners. */
export async function splitWorkers(bench: OrderBench): Promise<SplitWorkers> {
  const connection = await NativeConnection.connect({ address: bench.address });
  const partners = connectPartners({ baseUrl: bench.partnersUrl });
  const invoices = await openInvoices(bench.databaseUrl);
  const activities = partnerActivities({ partners, invoices });
  const workers = await Promise.all(
    ORDER_PARTNERS.map((partner) =>
      Worker.create({
        connection,
        taskQueue: partnerQueue(bench.taskQueue, partner),
        activities: activities[partner],
      }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    async whileOrdersRun(work, options) {
      const worker = await Worker.create({
        connection,
        taskQueue: bench.taskQueue,
        workflowBundle: await workflowBundle(),
        activities: localActivities,
        enableNonLocalActivities: false,
        // With a cache, the server would keep its runs for it when it is gone.
        maxCachedWorkflows: 0,
        ...options,
      });
      return worker.runUntil(work);
    },
    async close() {
      for (const worker of workers) worker.shutdown();
      await running;
      await partners.close();
      await invoices.close();
      await connection.close();
    },
  };
}
