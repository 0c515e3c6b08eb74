import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { isolatedEnv } from '../../../client/isolated-env.mjs';
import { NODE_FLAGS, projectRoot } from '../../../stack/runtime.mjs';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

const SCRIPT = join(projectRoot, 'lab/scenarios/no-rules/queue-worker.ts');

/** What the worker serves: by the name of a version, a folder with steps, or a version of the code. */
export type Versions = Readonly<Record<string, { folder: string } | { version: string }>>;

/** Starts a worker of the queue with these versions, and waits until it is ready. */
export async function startQueueWorker(
  { cleanUp }: Stage,
  { databaseUrl, partnersUrl, policy }: World,
  { versions, env = {} }: { versions: Versions; env?: NodeJS.ProcessEnv },
): Promise<{ end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> }> {
  const child = execa(process.execPath, [...NODE_FLAGS, SCRIPT], {
    env: {
      ...isolatedEnv(process.env),
      DATABASE_URL: databaseUrl,
      PARTNERS_URL: partnersUrl,
      Q2T_VISIBILITY_MS: String(policy.heartbeatMs),
      Q2T_LAB_VERSIONS: JSON.stringify(versions),
      ...env,
    },
    extendEnv: false,
    cwd: projectRoot,
    reject: false,
    all: true,
  });
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal);
    await child;
  };
  cleanUp(() => end('SIGKILL'));
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.all }).on('line', (line) => {
    if (line.includes('"msg":"ready"')) ready.resolve();
  });
  const ended = child.then(({ all }) => {
    throw new Error(`a worker with changed steps did not start: ${all}`);
  });
  // After the start its end is what was asked for.
  ended.catch(() => undefined);
  await Promise.race([ready.promise, ended]);
  return { end };
}
