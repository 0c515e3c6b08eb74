import { PgBoss } from 'pg-boss';
import { connectionsFor, type Contender, type Job, type Mode } from './contender.ts';

const QUEUE = 'bench';

/**
 * pg-boss. Its `work` polls every half second at best, so the drain calls `fetch` and `complete` in
 * a loop, which is the fastest it can do, and without NOTIFY, its default: with it, every send
 * commits one after the other. The wake-up runs `work` with LISTEN and NOTIFY on.
 */
export const pgBoss: Contender = {
  name: 'pg-boss',
  hotTables: ['pgboss.job', 'pgboss.job_common'],
  async install(url) {
    const boss = new PgBoss({ connectionString: url, schedule: false });
    await boss.start();
    await boss.createQueue(QUEUE);
    await boss.stop({ graceful: false });
  },
  async open(url, mode) {
    const boss = new PgBoss({
      connectionString: url,
      max: connectionsFor(mode),
      schedule: false,
      useListenNotify: true,
    });
    boss.on('error', () => {});
    await boss.start();
    return {
      async send(jobs) {
        const [only] = jobs;
        if (mode.batch === 1 && only !== undefined) await boss.send(QUEUE, only);
        else
          await boss.insert(
            QUEUE,
            jobs.map((data) => ({ data })),
          );
      },
      work: (style, onStart) =>
        style === 'wake' ? workNatively(boss, mode, onStart) : fetchInLoops(boss, mode, onStart),
      close: () => boss.stop({ graceful: false }),
    };
  },
};

function fetchInLoops(boss: PgBoss, { workers, batch }: Mode, onStart: (job: Job) => void) {
  let stopping = false;
  const loop = async () => {
    while (!stopping) {
      const jobs = await boss.fetch<Job>(QUEUE, { batchSize: batch });
      for (const job of jobs) onStart(job.data);
      if (jobs.length > 0) {
        await boss.complete(
          QUEUE,
          jobs.map((job) => job.id),
        );
      }
    }
  };
  const loops = Array.from({ length: workers }, loop);
  return Promise.resolve({
    async stop() {
      stopping = true;
      await Promise.all(loops);
    },
  });
}

async function workNatively(boss: PgBoss, { workers, batch }: Mode, onStart: (job: Job) => void) {
  await boss.updateQueue(QUEUE, { notify: true });
  await boss.work<Job>(
    QUEUE,
    { localConcurrency: workers, batchSize: batch, pollingIntervalSeconds: 0.5 },
    (jobs) => {
      for (const job of jobs) onStart(job.data);
      return Promise.resolve();
    },
  );
  return { stop: () => boss.offWork(QUEUE) };
}
