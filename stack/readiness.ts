import { setTimeout as sleep } from 'node:timers/promises';

/** How it is known that a process can be used: by a line it prints, or by asking it. */
export type Readiness =
  /** It prints a JSON line with `"msg":"ready"`. */
  | { kind: 'line' }
  /** Asked again and again until it no longer throws. */
  | { kind: 'probe'; probe: () => Promise<void> };

const PROBE_EVERY_MS = 50;

/** Resolves when the process is ready. Throws when `ended` comes first or `limit` ms have passed. */
export async function untilReady(
  readiness: Readiness,
  { limit, lineSeen, ended }: { limit: number; lineSeen: Promise<void>; ended: Promise<string> },
): Promise<void> {
  const over = new AbortController();
  const ready =
    readiness.kind === 'line' ? lineSeen : probeUntilReady(readiness.probe, over.signal);
  const tooLong = sleep(limit, undefined, { signal: over.signal }).then(
    () => `it was not ready after ${limit} ms`,
    () => '',
  );
  try {
    const failure = await Promise.race([ready, tooLong, ended.then((how) => `it ended ${how}`)]);
    if (typeof failure === 'string') throw new Error(failure);
  } finally {
    over.abort();
  }
}

async function probeUntilReady(probe: () => Promise<void>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      await probe();
      return;
    } catch {
      // Not ready yet is the usual answer; the limit and the log say the rest.
      await sleep(PROBE_EVERY_MS);
    }
  }
}

/** The fields of a JSON log line with `"msg":"ready"`, undefined for any other line. */
export function readyFieldsOf(line: string): Record<string, unknown> | undefined {
  if (!line.includes('"ready"')) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const fields = { ...parsed };
    return 'msg' in fields && fields.msg === 'ready' ? fields : undefined;
  } catch {
    return undefined;
  }
}
