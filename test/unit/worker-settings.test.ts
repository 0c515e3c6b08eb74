import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { projectRoot } from '../../stack/runtime.mjs';

const folder = join(projectRoot, 'workers');
/** What several of them read, of the same model. */
const MODEL = join(projectRoot, 'partners', 'clients', 'model-settings.ts');

test('workers/README.md names every setting of the workers, and no other', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts'));
  const paths = [...files.map((file) => join(folder, file)), MODEL];
  const sources = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  const read = sources.flatMap((source) =>
    [...source.matchAll(/^ {2,4}([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name ?? ''),
  );
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const told = [...readme.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, name]) => name ?? '');
  assert.deepEqual(told.toSorted(), [...new Set(read)].toSorted());
});

test('workers/README.md has a line for every process', async () => {
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const processes = [...readme.matchAll(/^\| `([a-z]+\.ts)`/gm)].map(([, name]) => name);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts'));
  const parts = ['deployment.ts', 'order-workers.ts', 'rates.ts', 'settings.ts'];
  assert.deepEqual(processes.toSorted(), files.filter((file) => !parts.includes(file)).toSorted());
});
