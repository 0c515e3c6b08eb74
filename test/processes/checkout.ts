import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import { projectRoot } from '../../stack/runtime.mjs';
import { tempDir } from '../unit/stack/temp-dir.ts';

/** The project's own folders and files; what it brings or makes for itself is not among them. */
const FOLDERS = [
  'activities',
  'agent',
  'client',
  'core',
  'partners',
  'queue',
  'stack',
  'workers',
  'workflows',
];
const FILES = ['package.json', 'package-lock.json'];

/**
 * A checkout of its own for one test, so that its `.q2t` is nobody else's. The packages and the Temporal
 * binary are those of the project that runs the test.
 */
export async function checkout(t: Pick<TestContext, 'after'>): Promise<string> {
  const dir = await tempDir(t);
  await Promise.all(
    [...FOLDERS, ...FILES].map((name) =>
      cp(join(projectRoot, name), join(dir, name), { recursive: true }),
    ),
  );
  await mkdir(join(dir, '.q2t'));
  await symlink(join(projectRoot, 'node_modules'), join(dir, 'node_modules'));
  await symlink(join(projectRoot, '.q2t', 'cache'), join(dir, '.q2t', 'cache'));
  return dir;
}

/** A project with the bootstrap and the tasks that a test gives it, which needs no packages. */
export async function smallProject(
  t: Pick<TestContext, 'after'>,
  tasks: object,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const dir = await tempDir(t);
  const own = (source: string) => {
    const name = relative(projectRoot, source);
    return !name.includes('.') || name.endsWith('.mjs') || name.endsWith('.toml');
  };
  for (const folder of ['stack', 'client']) {
    await cp(join(projectRoot, folder), join(dir, folder), { recursive: true, filter: own });
  }
  const list = `export const tasks = ${JSON.stringify(tasks)};\n`;
  await writeFile(join(dir, 'stack', 'tasks.mjs'), list);
  const empty = { 'package.json': '{"type":"module"}', 'package-lock.json': '{"packages":{}}' };
  await mkdir(join(dir, 'node_modules'));
  await writeFile(join(dir, 'node_modules', '.package-lock.json'), '{"packages":{}}');
  for (const [name, content] of Object.entries({ ...empty, ...files })) {
    await writeFile(join(dir, name), content);
  }
  return dir;
}
