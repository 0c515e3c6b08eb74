import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, stateDir } from './runtime.mjs';

/** What the bundle is made of: what workflows may import, the script that makes it, the versions of the packages. */
const FOLDERS = ['workflows', 'core'];
const FILES = ['workers/build.ts', 'package-lock.json'];

/**
 * Puts the workflow bundle at `target`: the last one, as long as nothing that it is made of has changed,
 * otherwise a new one by `make`, which takes seconds. Throws what `make` throws.
 */
export async function takeBundle(
  target: string,
  make: (file: string) => Promise<void>,
  { root = projectRoot, cacheDir = join(stateDir, 'cache') } = {},
): Promise<void> {
  const name = `workflows-${await sourceDigest(root)}.js`;
  const kept = join(cacheDir, name);
  const found = await copyFile(kept, target).then(
    () => true,
    () => false,
  );
  if (found) return;
  await make(target);
  // Edited while it was made: nobody knows which of the two it is.
  if (name !== `workflows-${await sourceDigest(root)}.js`) return;
  await mkdir(cacheDir, { recursive: true });
  for (const old of await readdir(cacheDir)) {
    if (/^workflows-\w+\.js$/.test(old)) await rm(join(cacheDir, old), { force: true });
  }
  // Another stack may look for it right now, and must not find the half of it.
  const draft = `${kept}.${process.pid}`;
  await copyFile(target, draft);
  await rename(draft, kept);
}

async function sourceDigest(root: string): Promise<string> {
  const inFolders = await Promise.all(
    FOLDERS.map(async (folder) => {
      const names = await readdir(join(root, folder), { recursive: true });
      return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
    }),
  );
  const digest = createHash('sha256');
  for (const file of [...inFolders.flat().sort(), ...FILES]) {
    digest.update(`${file}\0`).update(await readFile(join(root, file)));
  }
  return digest.digest('hex').slice(0, 16);
}
