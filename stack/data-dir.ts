import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './lock.mjs';

export interface DataDir {
  path: string;
  /** Lets go of it, and deletes it when it is a temporary one. */
  close(): Promise<void>;
}

/** The folder of one stack, `given` or a temporary one. Throws when a living process has it. */
export async function openDataDir(given: string | undefined): Promise<DataDir> {
  const path = given ?? (await mkdtemp(join(tmpdir(), 'q2t-')));
  await mkdir(path, { recursive: true });
  const lock = tryLock(join(path, 'lock'));
  if (!lock.release) {
    throw new Error(`${path} is in use by process ${lock.holder.pid} since ${lock.holder.since}`);
  }
  // Under root Postgres runs as somebody else, who has to get through; what is secret is closed itself.
  await chmod(path, 0o755);
  return {
    path,
    close: async () => {
      lock.release();
      if (given === undefined) await rm(path, { recursive: true, force: true });
    },
  };
}
