import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { takeBundle } from '../../../stack/bundle-cache.ts';
import { tempDir } from './temp-dir.ts';

/** A project with one workflow, whose bundle says which time it was made. */
async function project(t: TestContext) {
  const root = await tempDir(t);
  const files = ['workflows/order.ts', 'core/steps.ts', 'workers/build.ts', 'package-lock.json'];
  for (const folder of ['workflows', 'core', 'workers']) await mkdir(join(root, folder));
  const write = (file: string, text: string) => writeFile(join(root, file), text);
  for (const file of files) await write(file, 'as it was');
  const cacheDir = join(root, 'cache');
  const target = join(root, 'bundle.js');
  let made = 0;
  return {
    files,
    write,
    kept: () => readdir(cacheDir).catch(() => []),
    take: async (meanwhile = () => Promise.resolve()) => {
      const make = async (file: string) => {
        await writeFile(file, `bundle ${++made}`);
        await meanwhile();
      };
      await takeBundle(target, make, { root, cacheDir });
      return readFile(target, 'utf8');
    },
  };
}

test('a bundle is made once and taken again while its sources are as they were', async (t) => {
  const { take } = await project(t);
  assert.deepEqual([await take(), await take()], ['bundle 1', 'bundle 1']);
});

test('after a change of anything that it is made of it is made anew, and the old one is not kept', async (t) => {
  const { take, write, files, kept } = await project(t);
  await take();
  for (const [index, file] of files.entries()) {
    await write(file, 'changed');
    assert.equal(await take(), `bundle ${index + 2}`, file);
  }
  await write('workflows/new.ts', 'new');
  assert.equal(await take(), `bundle ${files.length + 2}`);
  assert.equal((await kept()).length, 1);
});

test('a bundle that could not be made, or whose source changed meanwhile, is not kept', async (t) => {
  const { take, write, kept } = await project(t);
  await assert.rejects(
    take(() => Promise.reject(new Error('a syntax error'))),
    /a syntax error/,
  );
  assert.deepEqual(await kept(), []);
  assert.equal(await take(() => write('core/steps.ts', 'edited')), 'bundle 2');
  assert.deepEqual(await kept(), []);
  assert.equal(await take(), 'bundle 3');
});
