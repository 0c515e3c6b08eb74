import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { connectionsFor, type Contender, type Job } from './contender.ts';

const TASK = 'bench';
const logger = new Logger(() => () => {});

/** graphile-worker: its own runner; batched with the local queue and batched completion it offers for that. */
export const graphileWorker: Contender = {
  name: 'graphile-worker',
  hotTables: ['graphile_worker._private_jobs'],
  async install(url) {
    const utils = await makeWorkerUtils({ connectionString: url, logger });
    await utils.migrate();
    await utils.release();
  },
  async open(url, mode) {
    const { workers, batch } = mode;
    const pgPool = new pg.Pool({ connectionString: url, max: connectionsFor(mode) });
    // It asks for both of these.
    pgPool.on('error', () => {});
    pgPool.on('connect', (client) => client.on('error', () => {}));
    const utils = await makeWorkerUtils({ pgPool, logger });
    return {
      async send(jobs) {
        const [only] = jobs;
        if (batch === 1 && only !== undefined) await utils.addJob(TASK, only);
        else await utils.addJobs(jobs.map((payload) => ({ identifier: TASK, payload })));
      },
      async work(_style, onStart) {
        const runner = await run({
          pgPool,
          logger,
          concurrency: workers,
          noHandleSignals: true,
          pollInterval: 500,
          // The bench sent it: a Job.
          taskList: { [TASK]: (payload) => onStart(payload as Job) },
          ...(batch === 1
            ? {}
            : { preset: { worker: { localQueue: { size: batch }, completeJobBatchDelay: 0 } } }),
        });
        return { stop: () => runner.stop() };
      },
      async close() {
        await utils.release();
        await pgPool.end();
      },
    };
  },
};
