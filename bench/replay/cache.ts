import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Ground } from '../../lab/world/ground.ts';
import type { World } from '../../lab/world/world.ts';
import { answer } from './answer.ts';
import { withCacheProcess } from './cache-process.ts';
import type { CacheCell } from './plan.ts';

/** How often each run is answered in a cell, once more before to bring it into the cache. */
const ANSWERS = 2;
/** At once. A cache must have room for these, or tasks wait for a place in it until they time out. */
const LANES = 8;

/**
 * Answers open runs in turn through a worker with a cache of `asked`, all of them waiting for an approval
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
    await answerAll(client, workflowIds, 0);
    const before = await worker.usage();
    const [misses, fetches] = [await worker.misses(), await worker.fetches()];
    const began = performance.now();
    for (let n = 1; n <= ANSWERS; n++) await answerAll(client, workflowIds, n);
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

/** In another order each time: runs that come round in a circle would never be found in a smaller cache. */
async function answerAll(client: Client, workflowIds: readonly string[], round: number) {
  const drawn = workflowIds.toSorted((a, b) => fraction(round, a) - fraction(round, b)).values();
  const lane = async () => {
    for (const workflowId of drawn) await answer(client, workflowId);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

function fraction(round: number, text: string): number {
  return createHash('sha256').update(`${round} ${text}`).digest().readUInt32BE(0);
}
