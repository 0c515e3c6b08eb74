import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Contender, Job, Mode, OpenContender } from './contender.ts';
import type { BenchServer } from '../server.ts';

export interface CellSize {
  jobs: number;
  /** How many jobs at what rate for the send → start times. */
  wakeJobs: number;
  wakePerSecond: number;
}

/** One run of one contender in one mode. Rates per second, times in milliseconds. */
export interface Cell {
  jobsPerSecond: number;
  sendsPerSecond: number;
  drainsPerSecond: number;
  /** Transactions that wrote something, per job, over its whole life. */
  commitsPerJob: number;
  walBytesPerJob: number;
  startP50Ms: number;
  startP99Ms: number;
  deadRows: number;
}

/**
 * Sends and drains in a database of its own. With `oldSnapshot`, another connection holds a
 * REPEATABLE READ snapshot from before the first send, as a forgotten report would.
 */
export async function measureCell(
  server: BenchServer,
  contender: Contender,
  mode: Mode,
  size: CellSize,
  oldSnapshot: boolean,
): Promise<Cell> {
  const database = await server.createDatabase();
  const observer = new pg.Client({ connectionString: database.url });
  try {
    await contender.install(database.url);
    await observer.connect();
    const opened = await contender.open(database.url, mode);
    try {
      await sendAll(opened, 2 * mode.workers * mode.batch, mode);
      await drain(opened, 2 * mode.workers * mode.batch);
      const releaseSnapshot = oldSnapshot ? await holdSnapshot(database.url) : async () => {};
      const throughput = await measureThroughput(observer, opened, mode, size.jobs);
      const deadRows = await countDeadRows(observer, contender.hotTables);
      const starts = await measureStarts(opened, size);
      await releaseSnapshot();
      return { ...throughput, ...starts, deadRows };
    } finally {
      await opened.close();
    }
  } finally {
    await observer.end();
    await database.drop();
  }
}

async function measureThroughput(
  observer: pg.Client,
  opened: OpenContender,
  mode: Mode,
  jobs: number,
) {
  const before = await readServer(observer);
  const sendMs = await timed(() => sendAll(opened, jobs, mode));
  const drainMs = await drain(opened, jobs);
  const after = await readServer(observer);
  return {
    jobsPerSecond: (jobs * 1_000) / (sendMs + drainMs),
    sendsPerSecond: (jobs * 1_000) / sendMs,
    drainsPerSecond: (jobs * 1_000) / drainMs,
    commitsPerJob: (after.xid - before.xid) / jobs,
    walBytesPerJob: (after.wal - before.wal) / jobs,
  };
}

/** As many senders as there are workers, each with the next batch as soon as its last one is in. */
async function sendAll(opened: OpenContender, jobs: number, mode: Mode): Promise<void> {
  let next = 0;
  const sender = async () => {
    while (next < jobs) {
      const batch: Job[] = [];
      while (batch.length < mode.batch && next < jobs) batch.push({ n: next++ });
      await opened.send(batch);
    }
  };
  await Promise.all(Array.from({ length: mode.workers }, sender));
}

/** Milliseconds from the start of the workers to the start of the last job. */
async function drain(opened: OpenContender, jobs: number): Promise<number> {
  const began = performance.now();
  const { promise: lastStarted, resolve } = Promise.withResolvers<number>();
  let started = 0;
  const workers = await opened.work('drain', () => {
    started += 1;
    if (started === jobs) resolve(performance.now());
  });
  const ended = await lastStarted;
  await workers.stop();
  return ended - began;
}

/** Single jobs at a steady rate that leaves the workers idle in between. */
async function measureStarts(opened: OpenContender, size: CellSize) {
  const sentAt: number[] = [];
  const waits: number[] = [];
  const { promise: allStarted, resolve } = Promise.withResolvers<void>();
  const workers = await opened.work('wake', ({ n }) => {
    waits.push(performance.now() - (sentAt[n] ?? NaN));
    if (waits.length === size.wakeJobs) resolve();
  });
  const sends: Promise<void>[] = [];
  const began = performance.now();
  for (let n = 0; n < size.wakeJobs; n += 1) {
    // From a timetable, so that a slow send doesn't slow the next one down and hide itself.
    await delay(Math.max(0, began + (n * 1_000) / size.wakePerSecond - performance.now()));
    sentAt[n] = performance.now();
    sends.push(opened.send([{ n }]));
  }
  await Promise.all(sends);
  await allStarted;
  await workers.stop();
  waits.sort((a, b) => a - b);
  return { startP50Ms: quantile(waits, 0.5), startP99Ms: quantile(waits, 0.99) };
}

export function quantile(sorted: number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function readServer(observer: pg.Client): Promise<{ xid: number; wal: number }> {
  // Transaction ids are given to transactions that write: exactly the commits that cost a flush.
  const { rows } = await observer.query<{ xid: string; wal: string }>(`
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal`);
  return { xid: Number(rows[0]?.xid), wal: Number(rows[0]?.wal) };
}

/**
 * Counted from the pages, not from the statistics, which lag by a second: rows that are no longer
 * visible but still there are in the page's item pointers.
 */
async function countDeadRows(observer: pg.Client, tables: string[]): Promise<number> {
  await observer.query('CREATE EXTENSION IF NOT EXISTS pgstattuple');
  let dead = 0;
  for (const table of tables) {
    const { rows } = await observer.query<{ dead: string }>(
      `SELECT dead_tuple_count AS dead FROM pgstattuple($1::regclass)
       WHERE (SELECT relkind FROM pg_class WHERE oid = $1::regclass) = 'r'`,
      [table],
    );
    dead += Number(rows[0]?.dead ?? 0);
  }
  return dead;
}

async function holdSnapshot(url: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT 1');
  return () => holder.end();
}
