import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../stack/runtime.mjs';

/** One place in the product's source, changed in the copy that a broken worker runs. */
export interface Patch {
  /** From the root of the repository. */
  file: string;
  /** Must stand there exactly once, so that a guard whose code moved is noticed. */
  replace: string;
  by: string;
}

/** A guard of the product that the lab can take away. The product knows nothing of it. */
export interface Guard {
  /** As the ladder calls it: "the lease". */
  name: string;
  /** Applied to the workers' source as it is loaded. */
  patches?: readonly Patch[];
  /** Applied to the world's database before its first worker starts. */
  sql?: readonly string[];
}

/** Environment for a worker that runs without the guard. */
export function withoutGuard({ patches = [] }: Guard): NodeJS.ProcessEnv {
  if (patches.length === 0) return {};
  return {
    NODE_OPTIONS: `--import=${join(projectRoot, 'lab/guards/patch.mjs')}`,
    Q2T_LAB_PATCHES: JSON.stringify(patches),
  };
}

/** Throws unless every patch still meets its place in the source. */
export async function checkGuard({ name, patches = [] }: Guard): Promise<void> {
  for (const { file, replace } of patches) {
    const found = (await readFile(join(projectRoot, file), 'utf8')).split(replace).length - 1;
    if (found !== 1) {
      throw new Error(
        `without ${name}: what is replaced stands ${found} times in ${file}, not once`,
      );
    }
  }
}
