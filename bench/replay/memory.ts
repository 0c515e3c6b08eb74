import type { Client } from '@temporalio/client';
import type { Ground } from '../../lab/world/ground.ts';
import type { World } from '../../lab/world/world.ts';
import { positionQuery } from '../../workflows/definitions.ts';
import { withCacheProcess } from './cache-process.ts';
import type { MemoryCell } from './plan.ts';

/** More than any cell has runs. */
const ROOM = 10_000;

/**
 * Fills the cache of a worker that has just started with these runs, by asking each where it is, which
 * replays it and leaves its history as it is, and reads what the process holds then.
 */
export async function measureMemory(
  place: { ground: Ground; world: World },
  client: Client,
  { lines, workflowIds }: { lines: number; workflowIds: readonly string[] },
  reuseV8Context: boolean,
): Promise<MemoryCell> {
  return withCacheProcess(place, { cache: ROOM, reuseV8Context }, async (worker) => {
    const ask = async () => {
      for (const id of workflowIds) await client.workflow.getHandle(id).query(positionQuery);
    };
    await ask();
    const replayed = await worker.misses();
    await ask();
    if ((await worker.misses()) !== replayed) throw new Error('a run was not kept in the cache');
    const heapMb = await worker.heapMb();
    const { memoryMb } = await worker.usage();
    return { lines, reuseV8Context, runs: workflowIds.length, heapMb, memoryMb };
  });
}
