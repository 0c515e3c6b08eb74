import type { Client } from '@temporalio/client';
import type { Ground } from '../../lab/world/ground.ts';
import type { World } from '../../lab/world/world.ts';
import { measureCache } from './cache.ts';
import { openRun } from './long-run.ts';
import { measureMemory } from './memory.ts';
import type { CacheCell, MemoryCell, ReplayPlan } from './plan.ts';

/** Orders that are opened at once. */
const LANES = 8;

/** What a worker's cache takes and gives: memory first, since answers make histories longer. */
export async function measureCaches(
  plan: ReplayPlan,
  place: { ground: Ground; world: World },
  client: Client,
  announce: (text: string) => void,
): Promise<{ cache: CacheCell[]; memory: MemoryCell[] }> {
  const { runs, rounds } = plan;
  const sizes = [0, Math.ceil(runs / 2), undefined];
  const worker = await place.world.startWorker();
  announce(`${plan.largeRuns} runs of ${plan.largeLines} lines that wait for an approval`);
  const large = await open(place.world, 'large', plan.largeRuns, plan.largeLines);
  announce(`${sizes.length * runs} runs of one line`);
  const small = await open(place.world, 'small', sizes.length * runs, 1);
  await worker.stop();

  const memory: MemoryCell[] = [];
  for (const [lines, all] of [[1, small] as const, [plan.largeLines, large] as const]) {
    for (const reuseV8Context of plan.contexts) {
      for (const share of plan.shares) {
        const workflowIds = all.slice(0, Math.ceil(all.length * share));
        announce(
          `memory: ${workflowIds.length} runs, lines ${lines}, one context ${reuseV8Context}`,
        );
        memory.push(await measureMemory(place, client, { lines, workflowIds }, reuseV8Context));
      }
    }
  }
  const cache: CacheCell[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [n, size] of sizes.entries()) {
      announce(`caches, round ${round} of ${rounds}: ${size ?? 'the default'}`);
      const own = small.slice(n * runs, (n + 1) * runs);
      cache.push(await measureCache(place, client, own, size));
    }
  }
  return { cache, memory };
}

async function open(world: World, name: string, count: number, lines: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, n) => n).values();
  const workflowIds: string[] = [];
  const lane = async () => {
    for (const n of numbers) workflowIds.push(await openRun(world, `${name}-${n}`, lines));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return workflowIds;
}
