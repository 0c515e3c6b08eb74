import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { resolveTarget } from '../../client/target.ts';
import type { DatabasePlace, Target, TemporalPlace } from '../../client/target.ts';
import type { Up } from '../../client/up-file.ts';

const dir = await mkdtemp(join(tmpdir(), 'q2t-target-test-'));
after(() => rm(dir, { recursive: true, force: true }));

export const noUp = join(dir, 'no-up.json');
/** A home without a temporal.toml, so that the test reads nobody's. */
export const home = { HOME: dir, XDG_CONFIG_HOME: dir };

export const up: Up = {
  pid: process.pid,
  startedAt: '2026-11-29T10:00:00.000Z',
  temporalAddress: '127.0.0.1:20001',
  namespace: 'default',
  uiUrl: 'http://127.0.0.1:20002',
  databaseUrl: 'postgresql://postgres:local-secret@127.0.0.1:20003/q2t',
  partnersUrl: 'http://127.0.0.1:20004',
  taskQueue: 'local',
  storeDir: '/tmp/q2t-data/store',
  dataDir: '/tmp/data',
};

/** A file of `content`, as `npm run up` writes it. */
export async function upFile(content: object | string): Promise<string> {
  const file = join(await mkdtemp(join(dir, 'up-')), 'up.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

export async function configFile(toml: string): Promise<string> {
  const file = join(await mkdtemp(join(dir, 'config-')), 'temporal.toml');
  await writeFile(file, toml);
  return file;
}

export function temporalTarget(env: NodeJS.ProcessEnv, file = noUp): Target & TemporalPlace {
  const target = resolveTarget('temporal', env, file);
  assert(target.kind === 'temporal');
  return target;
}

export function databaseTarget(env: NodeJS.ProcessEnv, file = noUp): Target & DatabasePlace {
  const target = resolveTarget('queue', env, file);
  assert(target.kind === 'database');
  assert.deepEqual(resolveTarget('chain', env, file), target);
  return target;
}
