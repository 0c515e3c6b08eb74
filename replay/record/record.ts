import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import { untilThrough } from '../../lab/observe/until.ts';
import { Ground } from '../../lab/world/ground.ts';
import { openWorld } from '../../lab/world/open.ts';
import type { World } from '../../lab/world/world.ts';
import { bundleStage } from '../gate/bundle.ts';
import { formatHistory, type History } from '../history/file.ts';
import { isObject, type Json } from '../history/json.ts';
import { normalise } from '../history/normalise.ts';
import { withReadablePayloads } from '../history/payloads.ts';
import type { Stage } from '../stages.ts';
import type { RunPath } from './paths.ts';

export interface Recording {
  paths: readonly RunPath[];
  stage: Stage;
  /** The folder of all stages. */
  dir: string;
  announce: (line: string) => void;
}

/** A partner that holds a request is let go by the recording, never by a timeout: that would be another path. */
const POLICY = { partnerTimeoutMs: 30_000, attemptTimeoutMs: 60_000, maxAttempts: 4 };

/**
 * Runs an order along every path on a server, a database, partners and a worker of its own, and writes
 * the history of each. Returns the files. Throws when a run does not go the way its path says.
 */
export async function record({ paths, stage, dir, announce }: Recording): Promise<string[]> {
  const ground = new Ground();
  try {
    announce('starting Postgres, Temporal and the partners');
    await ground.lay();
    const world = await openWorld(ground, 'temporal', { policy: POLICY });
    const connection = await Connection.connect({ address: world.temporal.address });
    try {
      const client = new Client({ connection, namespace: world.temporal.namespace });
      const { serverVersion } = await connection.workflowService.getSystemInfo({});
      await mkdir(join(dir, stage), { recursive: true });
      const write = async (workflowId: string, path: string) => {
        const { history, sdk } = await recorded(client, workflowId, world.name);
        const file = join(dir, stage, `${path}.json`);
        const facts = { stage, path, workflowId, sdk, server: serverVersion ?? 'unknown' };
        await writeFile(file, formatHistory(facts, history));
        return file;
      };
      const bundle = join(ground.stack.dataDir, `${stage}.js`);
      await writeFile(bundle, (await bundleStage(stage)).code);
      return await runAll(paths, { world, client, announce, write, bundle });
    } finally {
      await connection.close();
      await world.close();
    }
  } finally {
    await ground.stop();
  }
}

interface Running {
  world: World;
  client: Client;
  announce: (line: string) => void;
  /** What the worker runs. */
  bundle: string;
  write: (workflowId: string, path: string) => Promise<string>;
}

async function runAll(paths: readonly RunPath[], running: Running): Promise<string[]> {
  const { world, client, announce, write, bundle } = running;
  const files: string[] = [];
  const withoutWorkers = paths.filter(({ beforeWorkers }) => beforeWorkers !== undefined);
  for (const path of withoutWorkers) await begin(world, path);
  await world.startWorker({ Q2T_BUNDLE: bundle });
  for (const path of paths) {
    announce(path.name);
    const id = orderIdOf(path.order());
    if (!path.beforeWorkers) await begin(world, path);
    await path.happens?.(world, id, client);
    await untilThrough(world, id);
    files.push(await write(runIdOf(id), path.name));
    for (const child of path.children ?? []) {
      files.push(
        await write(`${runIdOf(id)}${child}`, `${path.name}${child.replaceAll('/', '-')}`),
      );
    }
  }
  return files;
}

async function begin(world: World, path: RunPath): Promise<void> {
  const order = path.order();
  const id = orderIdOf(order);
  for (const fault of path.faults?.(order) ?? []) await world.partners.setFault(fault);
  const { kind } = await world.pipeline.submit(order, world.policy);
  if (kind !== 'started') throw new Error(`${path.name}: submit answered ${kind}`);
  await path.beforeWorkers?.(world, id);
}

async function recorded(client: Client, workflowId: string, taskQueue: string) {
  const fetched = await client.workflow.getHandle(workflowId).fetchHistory();
  const readable = withReadablePayloads(JSON.parse(historyToJSON(fetched)) as Json);
  const events = isObject(readable) ? readable['events'] : undefined;
  if (!Array.isArray(events)) throw new Error(`${workflowId} has no events`);
  return { history: normalise(events, taskQueue), sdk: sdkOf(fetched) };
}

/** Written by the worker into the first task it completed. */
function sdkOf({ events }: History): string {
  const versions = events?.flatMap(
    (event) => event.workflowTaskCompletedEventAttributes?.sdkMetadata?.sdkVersion || [],
  );
  return versions?.[0] ?? 'unknown';
}
