import { readFile } from 'node:fs/promises';
import type pg from 'pg';

/** What Postgres and the kernel have counted so far: the difference of two of them is what lay between. */
export interface Reading {
  /** Transactions that wrote: exactly the commits that cost a flush. */
  commits: number;
  walBytes: number;
  /** Of the process. */
  cpuMs: number;
}

/** What /proc counts processor time in: 100 ticks a second on every Linux of today. */
const TICK_MS = 10;

/** Reads both. Linux only: reads /proc. */
export async function reading(observer: pg.Client, pid: number): Promise<Reading> {
  // Transaction ids are given to transactions that write.
  const { rows } = await observer.query<{ xid: string; wal: string }>(`
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal`);
  // After the command's name, which is in brackets and may hold spaces: utime and stime are the 12th and 13th.
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
  const cpuMs = (Number(stat[11]) + Number(stat[12])) * TICK_MS;
  return { commits: Number(rows[0]?.xid), walBytes: Number(rows[0]?.wal), cpuMs };
}

/** What lies between two readings, for each of `count`. */
export function perOne(before: Reading, after: Reading, count: number): Reading {
  return {
    commits: (after.commits - before.commits) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
    cpuMs: (after.cpuMs - before.cpuMs) / count,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
