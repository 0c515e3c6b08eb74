import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Of all files in a folder and below. */
export async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
}
