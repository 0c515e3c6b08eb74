import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Ground } from '../../lab/world/ground.ts';
import { openWorld } from '../../lab/world/open.ts';
import type { World } from '../../lab/world/world.ts';
import { replayQuietly } from '../../replay/gate/quiet.ts';
import { HISTORIES_DIR, readHistory } from '../../replay/history/file.ts';
import { CURRENT_STAGE } from '../../replay/stages.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { measureCaches } from './caches.ts';
import { bundleOfLongRuns, measureColdStart, openRun } from './long-run.ts';
import type { CacheCell, ColdCell, MemoryCell, ReplayPlan, SpeedCell } from './plan.ts';
import { measureSpeed } from './speed.ts';

export interface ReplayResult {
  machine: Machine;
  plan: ReplayPlan;
  speed: SpeedCell[];
  cold: ColdCell[];
  cache: CacheCell[];
  memory: MemoryCell[];
}

type Announce = (text: string) => void;

/** What replay costs: its speed, a cold worker's first answer, and a worker's cache. Linux only: reads /proc. */
export async function runReplayBench(plan: ReplayPlan, announce: Announce): Promise<ReplayResult> {
  replayQuietly();
  const ground = new Ground();
  try {
    announce('starting Postgres and Temporal');
    await ground.lay();
    const machine = await describeMachine(ground.stack.postgres.urlOf('postgres'));
    const connection = await Connection.connect({ address: ground.stack.temporal.address });
    try {
      const client = new Client({ connection, namespace: ground.stack.temporal.namespace });
      const long = await inWorld(ground, (world) => longRun(plan, ground, world, client, announce));
      const caches = await inWorld(ground, (world) =>
        measureCaches(plan, { ground, world }, client, announce),
      );
      return { machine, plan, ...long, ...caches };
    } finally {
      await connection.close();
    }
  } finally {
    await ground.stop();
  }
}

async function inWorld<T>(ground: Ground, work: (world: World) => Promise<T>): Promise<T> {
  // A cold replay of a long run takes longer than the lab's two seconds for a task.
  const policy = { workflowTaskTimeoutMs: 60_000 };
  const world = await openWorld(ground, 'temporal', { policy });
  try {
    return await work(world);
  } finally {
    await world.close();
  }
}

async function longRun(
  { lines, events, rounds }: ReplayPlan,
  ground: Ground,
  world: World,
  client: Client,
  announce: Announce,
): Promise<{ speed: SpeedCell[]; cold: ColdCell[] }> {
  announce(`an order of ${lines} lines in one run`);
  const bundle = await bundleOfLongRuns(ground.stack.dataDir);
  const startWorker = () => world.startWorker({ Q2T_BUNDLE: bundle });
  const worker = await startWorker();
  const short = { run: 'short', workflowId: await openRun(world, 'short', 1) } as const;
  const long = { run: 'long', workflowId: await openRun(world, 'long', lines) } as const;
  await worker.kill();
  const cold: ColdCell[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const each of [short, long]) {
      announce(`cold workers, round ${round} of ${rounds}: ${each.run} run`);
      cold.push(await measureColdStart(client, each, startWorker));
    }
  }
  const recorded = (path: string) =>
    readHistory(join(HISTORIES_DIR, CURRENT_STAGE, `${path}.json`));
  const histories = [
    { ...(await recorded('plain')), name: '1 line' },
    { ...(await recorded('240-lines')), name: '240 lines' },
    {
      name: `${lines} lines in one run, up to its approval`,
      workflowId: long.workflowId,
      history: await client.workflow.getHandle(long.workflowId).fetchHistory(),
    },
  ];
  const speed: SpeedCell[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const history of histories) {
      announce(`replays, round ${round} of ${rounds}: ${history.name}`);
      speed.push(await measureSpeed({ codePath: bundle }, history, events));
    }
  }
  return { speed, cold };
}
