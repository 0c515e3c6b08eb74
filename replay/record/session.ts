import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Ground } from '../../lab/world/ground.ts';
import { openWorld } from '../../lab/world/open.ts';
import type { World } from '../../lab/world/world.ts';
import { startTemporalServer } from '../../stack/temporal.ts';
import { bundleStage } from '../gate/bundle.ts';
import { formatHistory, type History } from '../history/file.ts';
import { isObject, type Json } from '../history/json.ts';
import { normalise } from '../history/normalise.ts';
import { withReadablePayloads } from '../history/payloads.ts';
import type { Stage } from '../stages.ts';

/** Where runs of a stage are recorded: a server, a database, partners of their own, and no worker yet. */
export interface Session {
  world: World;
  client: Client;
  /** What the worker runs. */
  bundle: string;
  /** Writes what there is of a run under the name of its path, and returns the file. Default: the newest of the executions. */
  write: (workflowId: string, path: string, runId?: string) => Promise<string>;
}

export interface SessionOptions {
  stage: Stage;
  /** The folder of all stages. */
  dir: string;
  /** The server suggests at so many events that a run goes on in a new execution. Default: the server's own. */
  suggestsAt?: number;
}

/** A partner that holds a request is let go by the recording, never by a timeout: that would be another path. */
const POLICY = { partnerTimeoutMs: 30_000, attemptTimeoutMs: 60_000, maxAttempts: 4 };

export function inSession<T>(
  options: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { suggestsAt } = options;
  if (suggestsAt === undefined) return onGround(new Ground(), options, work);
  return withServer(suggestsAt, (temporal) =>
    onGround(new Ground({ external: { temporal } }), options, work),
  );
}

async function withServer<T>(
  suggestsAt: number,
  work: (server: { address: string; namespace: string }) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'q2t-record-'));
  try {
    const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': String(suggestsAt) };
    const server = await startTemporalServer({ dataDir, dynamicConfig });
    try {
      const { address, namespace } = server;
      return await work({ address, namespace });
    } finally {
      await server.process.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function onGround<T>(
  ground: Ground,
  { stage, dir }: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    await ground.lay();
    const world = await openWorld(ground, 'temporal', { policy: POLICY });
    const connection = await Connection.connect({ address: world.temporal.address });
    try {
      const client = new Client({ connection, namespace: world.temporal.namespace });
      const { serverVersion } = await connection.workflowService.getSystemInfo({});
      await mkdir(join(dir, stage), { recursive: true });
      const bundle = join(ground.stack.dataDir, `${stage}.js`);
      await writeFile(bundle, (await bundleStage(stage)).code);
      const write = async (workflowId: string, path: string, runId?: string) => {
        const handle = client.workflow.getHandle(workflowId, runId);
        const { history, sdk } = recorded(await handle.fetchHistory(), workflowId, world.name);
        const file = join(dir, stage, `${path}.json`);
        const facts = { stage, path, workflowId, sdk, server: serverVersion ?? 'unknown' };
        await writeFile(file, formatHistory(facts, history));
        return file;
      };
      return await work({ world, client, bundle, write });
    } finally {
      await connection.close();
      await world.close();
    }
  } finally {
    await ground.stop();
  }
}

function recorded(fetched: History, workflowId: string, taskQueue: string) {
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
