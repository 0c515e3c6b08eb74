import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import type { Ground } from '../../lab/world/ground.ts';
import type { World } from '../../lab/world/world.ts';
import { scriptProcess } from '../../stack/parts.ts';
import { freePort } from '../../stack/ports.ts';
import { usageOf, type Usage } from './linux.ts';

const HEAP_LIMIT_MS = 60_000;

/** A worker process of the bench's own, and what can be seen of it. */
export interface CacheProcess {
  /** How many runs it keeps. */
  size: number;
  usage(): Promise<Usage>;
  /** Collects its garbage; returns megabytes in use on the heaps of all its threads. */
  heapMb(): Promise<number>;
  /** How often it was given a run that it did not have, and replayed it. */
  misses(): Promise<number>;
  /** How often it asked the server for a history, or for more of one. */
  fetches(): Promise<number>;
}

/** Lends a worker for workflow tasks to `work`: of a world, with `cache` runs at most; undefined: the SDK's own choice. */
export async function withCacheProcess<T>(
  { ground, world }: { ground: Ground; world: World },
  { cache, reuseV8Context = true }: { cache?: number | undefined; reuseV8Context?: boolean },
  work: (worker: CacheProcess) => Promise<T>,
): Promise<T> {
  const metrics = `127.0.0.1:${await freePort()}`;
  const heapFile = join(ground.stack.dataDir, 'cache-heap');
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
      REUSE_CONTEXT: String(reuseV8Context),
      HEAP_FILE: heapFile,
      METRICS: metrics,
      ...(cache !== undefined && { CACHE: String(cache) }),
    },
  );
  await worker.start();
  const pid = worker.pid ?? NaN;
  try {
    return await work({
      size: Number(worker.readyFields['maxCachedWorkflows']),
      usage: () => usageOf(pid),
      async heapMb() {
        await rm(heapFile, { force: true });
        process.kill(pid, 'SIGUSR2');
        return (await numberIn(heapFile)) / 2 ** 20;
      },
      misses: () => counterAt(metrics, 'temporal_sticky_cache_miss'),
      fetches: () => counterAt(metrics, 'temporal_request', 'GetWorkflowExecutionHistory'),
    });
  } finally {
    await worker.stop();
  }
}

async function numberIn(file: string): Promise<number> {
  const deadline = performance.now() + HEAP_LIMIT_MS;
  while (performance.now() < deadline) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== '') return Number(text);
    await wait(50);
  }
  throw new Error('the worker did not say how large its heap is');
}

/** The sum of a counter of Prometheus over its labels, those that hold `text`; one that was never counted is not there. */
async function counterAt(address: string, name: string, text = ''): Promise<number> {
  const page = await (await fetch(`http://${address}/metrics`)).text();
  const samples = page.matchAll(new RegExp(`^${name}(?:_total)?(\\{.*\\})? (\\d+)$`, 'gm'));
  return [...samples]
    .filter(([, labels = '']) => labels.includes(text))
    .reduce((sum, [, , value]) => sum + Number(value), 0);
}
