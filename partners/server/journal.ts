import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** An append-only file of JSON lines. Without a file it keeps nothing. */
export interface Journal {
  /** What was there when it was opened, oldest first. */
  entries: unknown[];
  /** Bytes of a last line that a killed process left unfinished; they are cut off. */
  tornBytes: number;
  /** Returns when the line is with the operating system: it survives SIGKILL, not a power cut. */
  append(entry: object): void;
  close(): void;
}

/**
 * Opens `file` and makes it and its folder when missing. A torn last line was never answered, so it
 * is cut off and counted; a bad line elsewhere is an Error that names the line.
 *
 * No fsync: the process dying is a scenario here, the machine losing power is not, and a sync for
 * every effect would compete with the database under test on the same disk.
 */
export function openJournal(file: string | undefined): Journal {
  if (file === undefined) return { entries: [], tornBytes: 0, append() {}, close() {} };
  mkdirSync(dirname(file), { recursive: true });
  const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const { entries, goodBytes } = readLines(content, file);
  const descriptor = openSync(file, 'a', 0o600);
  if (goodBytes < content.length) ftruncateSync(descriptor, goodBytes);
  let size = goodBytes;

  return {
    entries,
    tornBytes: content.length - goodBytes,
    append(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        let written = 0;
        while (written < line.length) written += writeSync(descriptor, line, written);
        size += line.length;
      } catch (error) {
        // A full disk must not leave half a line for the next entry to be glued to.
        ftruncateSync(descriptor, size);
        throw error;
      }
    },
    close: () => closeSync(descriptor),
  };
}

function readLines(content: Buffer, file: string): { entries: unknown[]; goodBytes: number } {
  const entries: unknown[] = [];
  let start = 0;
  for (;;) {
    const end = content.indexOf('\n', start);
    if (end === -1) return { entries, goodBytes: start };
    try {
      entries.push(JSON.parse(content.toString('utf8', start, end)));
    } catch (cause) {
      if (end === content.length - 1) return { entries, goodBytes: start };
      const message = `${file}, line ${entries.length + 1}: not JSON. Restore the file or start with a new one.`;
      throw new Error(message, { cause });
    }
    start = end + 1;
  }
}
