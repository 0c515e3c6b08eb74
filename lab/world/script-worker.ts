import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { NODE_FLAGS, projectRoot } from '../../stack/runtime.mjs';
import type { Stage } from '../scenario.ts';

/** A worker of a scenario's own: not one of the product's. */
export interface ScriptWorker {
  /** Resolves when the process is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/**
 * Starts a script of the repository as a worker and waits until it prints {"msg":"ready"}. Throws with
 * what it printed when it ends before. Killed with the stage.
 */
export async function startScriptWorker(
  { cleanUp }: Stage,
  script: string,
  env: NodeJS.ProcessEnv,
): Promise<ScriptWorker> {
  const child = execa(process.execPath, [...NODE_FLAGS, join(projectRoot, script)], {
    env: { ...isolatedEnv(process.env), ...env },
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
    throw new Error(`${script} did not start: ${all}`);
  });
  // After the start its end is what was asked for.
  ended.catch(() => undefined);
  await Promise.race([ready.promise, ended]);
  return { end };
}
