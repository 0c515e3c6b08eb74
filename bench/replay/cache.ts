import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import type { Ground } from '../../lab/world/ground.ts';
import type { World } from '../../lab/world/world.ts';
import { scriptProcess } from '../../stack/parts.ts';
import { answer } from './answer.ts';
import { usageOf } from './linux.ts';
import type { CacheCell } from './plan.ts';

/** How often each run is answered in a cell, once more before to bring it into the cache. */
const ANSWERS = 3;
/** At once. A cache must have room for these, or tasks wait for a place in it until they time out. */
const LANES = 8;

/**
 * Answers open runs in turn through a worker with a cache of `asked`, all of them waiting for an approval
 * that the answer is not for: one workflow task each, no activity, and the run waits on.
 */
export async function measureCache(
  { ground, world, client }: { ground: Ground; world: World; client: Client },
  workflowIds: readonly string[],
  asked: number | undefined,
): Promise<CacheCell> {
  const worker = scriptProcess(
    'cache-worker',
    'bench/replay/cache-worker.ts',
    {
      dataDir: join(ground.stack.dataDir, 'cache'),
      onStart: (process) => ground.register(process),
    },
    {
      ...isolatedEnv(process.env),
      TEMPORAL_ADDRESS: world.temporal.address,
      TASK_QUEUE: world.name,
      BUNDLE: ground.bundle,
      ...(asked !== undefined && { CACHE: String(asked) }),
    },
  );
  await worker.start();
  try {
    const pid = worker.pid ?? NaN;
    await answerAll(client, workflowIds, 0);
    const before = await usageOf(pid);
    const began = performance.now();
    for (let n = 1; n <= ANSWERS; n++) await answerAll(client, workflowIds, n);
    const seconds = (performance.now() - began) / 1_000;
    const after = await usageOf(pid);
    const tasks = ANSWERS * workflowIds.length;
    return {
      asked,
      size: Number(worker.readyFields['maxCachedWorkflows']),
      tasksPerSecond: tasks / seconds,
      cpuMsPerTask: (after.cpuMs - before.cpuMs) / tasks,
      memoryMb: after.memoryMb,
    };
  } finally {
    await worker.stop();
  }
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
