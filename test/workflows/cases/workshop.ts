import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import type { WorkerOptions, WorkflowBundle } from '@temporalio/worker';
import type { KnownHistory } from '../../../replay/history/file.ts';
import { temporalAddress } from '../../support/temporal.ts';

/** The small workflows beside this file, on a queue of their own. */
export interface Workshop {
  client: Client;
  bundle: WorkflowBundle;
  taskQueue: string;
  /** What activities were asked, in order. */
  asked: string[];
  /** Starts a run; returns its workflow id. */
  start(type: string): Promise<string>;
  /** Runs workers for the small workflows and their activity while `work` goes on. */
  working<T>(work: () => Promise<T>, options?: Partial<WorkerOptions>): Promise<T>;
  /** What there is of a run's history. */
  history(workflowId: string): Promise<KnownHistory>;
  close(): Promise<void>;
}

export async function openWorkshop(): Promise<Workshop> {
  const address = await temporalAddress();
  const [connection, native, bundle] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
      preloadModules: [fileURLToPath(new URL('shared-cache.ts', import.meta.url))],
      logger: new DefaultLogger('ERROR'),
    }),
  ]);
  const client = new Client({ connection });
  const taskQueue = `cases-${randomBytes(6).toString('hex')}`;
  const asked: string[] = [];
  const ask = async (what: string) => {
    asked.push(what);
    return `${what} answered`;
  };
  return {
    client,
    bundle,
    taskQueue,
    asked,
    async start(type) {
      const workflowId = `${type}-${randomBytes(6).toString('hex')}`;
      await client.workflow.start(type, { taskQueue, workflowId });
      return workflowId;
    },
    async working(work, options = {}) {
      const worker = await Worker.create({
        connection: native,
        taskQueue,
        workflowBundle: bundle,
        activities: { ask },
        stickyQueueScheduleToStartTimeout: '300ms',
        ...options,
      });
      return worker.runUntil(work);
    },
    async history(workflowId) {
      const history = await client.workflow.getHandle(workflowId).fetchHistory();
      return { name: workflowId, workflowId, history };
    },
    async close() {
      await native.close();
      await connection.close();
    },
  };
}
