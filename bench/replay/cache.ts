import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Ground } from '../../lab/world/ground.ts';
import type { World } from '../../lab/world/world.ts';
import { answer } from './answer.ts';
import { withCacheProcess } from './cache-process.ts';
import type { CacheCell } from './plan.ts';

/** How often each run is answered in a cell, on average, and once before to bring it into the cache. */
const ANSWERS = 2;
/** Answers at once, at most. */
const LANES = 8;

/**
 * Answers open runs through a worker with a cache of `asked`, all of them waiting for an approval
 * that the answer is not for: one workflow task each, no activity, and the run waits on. Answers lengthen
 * a history, so each size has runs of its own, answered as often as the others'.
 */
export async function measureCache(
  place: { ground: Ground; world: World },
  client: Client,
  workflowIds: readonly string[],
  asked: number | undefined,
): Promise<CacheCell> {
  return withCacheProcess(place, { cache: asked }, async (worker) => {
    await answerEach(client, workflowIds);
    const before = await worker.usage();
    const [misses, fetches] = [await worker.misses(), await worker.fetches()];
    const began = performance.now();
    for (let n = 1; n <= ANSWERS; n++) await answerSome(client, workflowIds, n);
    const seconds = (performance.now() - began) / 1_000;
    const after = await worker.usage();
    const tasks = ANSWERS * workflowIds.length;
    return {
      asked,
      size: worker.size,
      tasksPerSecond: tasks / seconds,
      cpuMsPerTask: (after.cpuMs - before.cpuMs) / tasks,
      // Without a cache there is none to miss, and every task is a replay.
      replaysPerTask: worker.size === 0 ? 1 : ((await worker.misses()) - misses) / tasks,
      fetchesPerTask: ((await worker.fetches()) - fetches) / tasks,
    };
  });
}

async function answerEach(client: Client, workflowIds: readonly string[]) {
  for (const workflowId of workflowIds) await answer(client, workflowId);
}

/** As many answers as there are runs, each for one drawn at random: no lane has the run of another. */
async function answerSome(client: Client, workflowIds: readonly string[], round: number) {
  // Half of the smaller cache: without room for all of them, tasks wait for a place in it until they time out.
  const lanes = Math.max(1, Math.min(LANES, Math.floor(workflowIds.length / 4)));
  const lane = async (_: unknown, at: number) => {
    const own = workflowIds.filter((_, n) => n % lanes === at);
    for (const n of own.keys()) {
      const drawn = own[Math.floor(fraction(round, `${at} ${n}`) * own.length)];
      if (drawn !== undefined) await answer(client, drawn);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function fraction(round: number, text: string): number {
  return createHash('sha256').update(`${round} ${text}`).digest().readUInt32BE(0) / 2 ** 32;
}
