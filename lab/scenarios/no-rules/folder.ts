import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { isolatedEnv } from '../../../client/isolated-env.mjs';
import type { Prepared } from '../../../replay/rules/prepared.ts';
import { NODE_FLAGS, projectRoot, stateDir } from '../../../stack/runtime.mjs';
import type { Stage } from '../../scenario.ts';

/** A folder for changed copies, inside the project, where the packages are found; gone with the stage. */
export async function openFolder({ cleanUp }: Stage): Promise<string> {
  await mkdir(stateDir, { recursive: true });
  const folder = await mkdtemp(join(stateDir, 'rules-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes the copies of one side there, and returns what lint and the bundler say of each. */
export async function prepare(
  stage: Stage,
  side: 'workflows' | 'queue',
  folder: string,
): Promise<Record<string, Prepared>> {
  await runScript(stage, 'replay/rules/prepare.ts', side, folder);
  return readJson(folder, 'prepared.json');
}

/** Runs a script to its end; throws with what it wrote when it fails. It ends with the stage. */
export async function runScript(stage: Stage, script: string, ...args: string[]): Promise<void> {
  await execa(process.execPath, [...NODE_FLAGS, join(projectRoot, script), ...args], {
    env: isolatedEnv(process.env),
    extendEnv: false,
    cwd: projectRoot,
    cancelSignal: stage.signal,
  });
}

/** What a script has written there. */
export async function readJson<T>(folder: string, name: string): Promise<T> {
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as T;
}
