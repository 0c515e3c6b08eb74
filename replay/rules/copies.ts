import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../stack/runtime.mjs';
import { editedTexts, type Edit } from '../changes/change.ts';

/**
 * Puts `folder` into `root` with the edits: a copy of what they change and of what imports that, down to
 * the rest, which is linked, so that twenty of them share it. Throws when an edit does not fit.
 */
export async function copyWith(
  root: string,
  folder: string,
  { name, edits }: { name: string; edits: readonly Edit[] },
): Promise<void> {
  await mkdir(join(root, folder), { recursive: true });
  await linkBeside(root, folder);
  const texts = await editedTexts(name, edits);
  const from = join(projectRoot, folder);
  const sources = new Map<string, string>();
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const { name: file } = entry;
    if (entry.isDirectory()) {
      // Nothing that is edited imports from below.
      await symlink(join(from, file), join(root, folder, file), 'dir');
      continue;
    }
    const text = texts.get(`${folder}/${file}`) ?? (await readFile(join(from, file), 'utf8'));
    sources.set(file, text);
  }
  const changed = edits.map(({ file }) => file.slice(folder.length + 1));
  const copied = withImporters(sources, changed.length > 0 ? changed : [...sources.keys()]);
  for (const [file, text] of sources) {
    if (copied.has(file)) await writeFile(join(root, folder, file), text);
    else await symlink(join(from, file), join(root, folder, file), 'file');
  }
}

/** The files and all that import them, directly or not: a linked one would import the original. */
function withImporters(sources: Map<string, string>, files: readonly string[]): Set<string> {
  const found = new Set(files);
  for (const file of found) {
    for (const [other, text] of sources) if (text.includes(`from './${file}'`)) found.add(other);
  }
  return found;
}

/** Everything that stands beside the folder on the way down to it, as links. */
async function linkBeside(root: string, folder: string): Promise<void> {
  const parts = folder.split('/');
  for (const [depth, own] of parts.entries()) {
    const parent = parts.slice(0, depth).join('/');
    const names =
      depth === 0 ? ['core', 'partners', 'activities'] : await readdir(join(projectRoot, parent));
    for (const name of names.filter((other) => other !== own)) {
      await symlink(join(projectRoot, parent, name), join(root, parent, name));
    }
  }
}
