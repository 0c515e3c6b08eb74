import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isRef, NotInStore } from '../../core/agent/store.ts';
import type { ClaimCheckStore, Ref } from '../../core/agent/store.ts';
import { refOf } from './ref-of.ts';

/** Far above a turn of the agent. Something larger is a mistake that should be seen where it is made. */
const MAX_BYTES = 16_000_000;
const DAY_MS = 24 * 3_600_000;

/**
 * A claim-check store of files on a disk that all workers share: `ab/sha256-ab…`. The file's time says
 * since when it is stored. Makes the folder when it is missing, and takes away what a crash left half
 * written more than a day ago.
 */
export async function openFileStore(folder: string): Promise<ClaimCheckStore> {
  const writing = join(folder, 'writing');
  await mkdir(writing, { recursive: true, mode: 0o700 });
  await clearOlderThan(writing, DAY_MS);
  const fileOf = (ref: Ref) => join(folder, ref.slice('sha256-'.length).slice(0, 2), ref);

  return {
    async put(content) {
      if (content.length > MAX_BYTES) {
        throw new RangeError(`${content.length} bytes are too many to store: at most ${MAX_BYTES}`);
      }
      const ref = refOf(content);
      const file = fileOf(ref);
      // Known content becomes new again: whoever collects must see that somebody needs it.
      if (await touch(file)) return ref;
      await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
      const temporary = join(writing, randomUUID());
      await writeDurably(temporary, content);
      await rename(temporary, file);
      await syncFolder(join(file, '..'));
      return ref;
    },

    async get(ref) {
      const content = await unlessMissing(readFile(fileOf(ref)));
      if (!content) throw new NotInStore(ref, 'is not in the store');
      if (refOf(content) !== ref)
        throw new NotInStore(ref, 'is damaged: its content has another hash');
      return content;
    },

    async *storedBefore(before) {
      for (const part of await readdir(folder)) {
        if (part.length !== 2) continue;
        for (const ref of await readdir(join(folder, part))) {
          if (!isRef(ref)) continue;
          const found = await unlessMissing(stat(fileOf(ref)));
          if (found && found.mtime < before) {
            yield { ref, bytes: found.size, storedAt: found.mtime };
          }
        }
      }
    },

    async remove(ref, before) {
      const file = fileOf(ref);
      const aside = join(writing, randomUUID());
      // Out of the way first, so that a put at this moment either made it new before, which is seen
      // here, or writes it again.
      if (!(await found(rename(file, aside)))) return false;
      const { mtime } = await stat(aside);
      if (mtime >= before) {
        // A link and not a rename: what was written again meanwhile is the same and stays.
        await link(aside, file).catch(ignoring('EEXIST'));
        await rm(aside);
        return false;
      }
      await rm(aside);
      return true;
    },
  };
}

async function touch(file: string): Promise<boolean> {
  const now = new Date();
  return found(utimes(file, now, now));
}

/** A name that a row or a history holds must not point to nothing after a power cut. */
async function writeDurably(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function clearOlderThan(folder: string, ageMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const left = await unlessMissing(stat(file));
    if (left && Date.now() - left.mtimeMs > ageMs) await rm(file, { force: true });
  }
}

async function found(work: Promise<void>): Promise<boolean> {
  return (await unlessMissing(work.then(() => true))) ?? false;
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch(ignoring('ENOENT'));
}

function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  };
}
