import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packagesMatch } from '../../../stack/packages.mjs';
import { tempDir } from './temp-dir.ts';

const zod = { version: '4.0.0', integrity: 'sha512-a' };

type Entries = Readonly<Record<string, object>>;

/** A project whose lock file wants `wanted`, where npm lists `installed` and `inPlace` is really there. */
async function project(
  t: TestContext,
  wanted: Entries,
  installed?: Entries,
  inPlace: Entries = installed ?? {},
): Promise<string> {
  const dir = await tempDir(t);
  for (const [path, entry] of Object.entries(inPlace)) {
    await mkdir(join(dir, path), { recursive: true });
    await writeFile(join(dir, path, 'package.json'), JSON.stringify(entry));
  }
  await writeFile(join(dir, 'package-lock.json'), JSON.stringify({ packages: wanted }));
  if (installed) {
    await mkdir(join(dir, 'node_modules'), { recursive: true });
    const file = join(dir, 'node_modules', '.package-lock.json');
    await writeFile(file, JSON.stringify({ packages: installed }));
  }
  return dir;
}

test('what npm has installed as the lock file says is left alone', async (t) => {
  const dir = await project(t, { '': {}, 'node_modules/zod': zod }, { 'node_modules/zod': zod });
  assert.equal(packagesMatch(dir), true);
});

test('missing, interrupted, older, altered and incomplete installs are all noticed', async (t) => {
  const wanted = { '': {}, 'node_modules/zod': zod };
  const installs = {
    'no node_modules': undefined,
    'an older version': { 'node_modules/zod': { ...zod, version: '3.9.0' } },
    'other content': { 'node_modules/zod': { ...zod, integrity: 'sha512-b' } },
    'a package missing': {},
  };
  for (const [what, installed] of Object.entries(installs)) {
    assert.equal(packagesMatch(await project(t, wanted, installed)), false, what);
  }
});

test('npm’s list alone is not believed: it can be written without installing anything', async (t) => {
  const wanted = { '': {}, 'node_modules/zod': zod };
  const listed = { 'node_modules/zod': zod };
  assert.equal(packagesMatch(await project(t, wanted, listed, {})), false);
  const older = { 'node_modules/zod': { ...zod, version: '3.9.0' } };
  assert.equal(packagesMatch(await project(t, wanted, listed, older)), false);
});

test('optional packages of other machines may be missing, the one of this machine may not', async (t) => {
  const foreign = { ...zod, optional: true, os: ['plan9'] };
  const other = await project(t, { 'node_modules/pg-plan9': foreign }, {});
  assert.equal(packagesMatch(other), true);
  const ours = { ...zod, optional: true, os: [process.platform], cpu: [process.arch] };
  assert.equal(packagesMatch(await project(t, { 'node_modules/pg-here': ours }, {})), false);
});

test('the installed project itself matches, so a second start installs nothing', () => {
  assert.equal(packagesMatch(), true);
});
