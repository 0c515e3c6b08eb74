import { median } from '../counters.ts';
import { describe } from '../machine.ts';
import type { MemoryCell } from './plan.ts';
import type { ReplayResult } from './run.ts';

/** The result as a page: what docs/measured/replay.md is. */
export function reportReplay({ machine, plan, speed, cold, cache, memory }: ReplayResult): string {
  const speeds = grouped(speed, ({ name }) => name).map((own) => [
    own[0]?.name ?? '',
    median(own.map(({ events }) => events)).toFixed(0),
    median(own.map(({ msPerReplay }) => msPerReplay)).toFixed(1),
    median(own.map(({ eventsPerSecond }) => eventsPerSecond)).toFixed(0),
  ]);
  const colds = grouped(cold, ({ run }) => run).map((own) => [
    median(own.map(({ events }) => events)).toFixed(0),
    median(own.map(({ coldMs }) => coldMs)).toFixed(0),
    median(own.map(({ warmMs }) => warmMs)).toFixed(1),
  ]);
  const warm = median(
    cache.filter(({ asked }) => asked === undefined).map(({ cpuMsPerTask }) => cpuMsPerTask),
  );
  const caches = grouped(cache, ({ size }) => String(size)).map((own) => {
    const cpu = median(own.map(({ cpuMsPerTask }) => cpuMsPerTask));
    const replays = median(own.map(({ replaysPerTask }) => replaysPerTask));
    return [
      own[0]?.asked === undefined ? `${own[0]?.size} (the SDK's default)` : String(own[0].size),
      median(own.map(({ tasksPerSecond }) => tasksPerSecond)).toFixed(0),
      cpu.toFixed(1),
      replays.toFixed(2),
      replays > 0 ? ((cpu - warm) / replays).toFixed(0) : '-',
      median(own.map(({ fetchesPerTask }) => fetchesPerTask)).toFixed(2),
    ];
  });
  return [
    '# Replay, measured',
    'Written by `npm run bench -- replay`; the single cells are in `replay.json`. SDK 1.24 with its default of one V8 context for all workflows (`reuseV8Context`), dev server 1.32.',
    describe(machine),
    `Medians of ${plan.rounds} round(s), taking turns.`,
    '## How fast histories replay',
    'One after the other in one replay worker, the bundle loaded before.',
    table(['history', 'events', 'ms a replay', 'events/s'], speeds),
    '## A cold worker takes up a run',
    'A worker process that has just become ready is given a task of an open run that it has never seen: it fetches the history from the server, replays it and takes an answer of a person. Then the same answer again.',
    table(['events', 'cold ms', 'warm ms'], colds),
    '## What a cache gives',
    `${plan.runs} open runs get answers, 8 at a time at most, each for a run drawn at random and each one workflow task without an activity. A run that is not in the cache is replayed from its history; one that a full cache has let go is fetched from the server first, since the server still counts on the worker to have it. Each size has runs of its own, so that their histories are equally long in each round. *CPU ms/replay*: what a task takes above one whose run is in the cache, by the share of tasks that are replays. Runs that come round in a circle, or once in every round, are hardly ever found in a cache that holds half of them: it lets go of the one that was used longest ago.`,
    table(
      [
        'cached runs at most',
        'tasks/s',
        'worker CPU ms/task',
        'replays/task',
        'CPU ms/replay',
        'histories fetched/task',
      ],
      caches,
    ),
    'The default comes from the heap limit of the process: 600 runs a gigabyte above 200 MB, 250 above 400 MB without one context for all.',
    '## What a cached run takes',
    'Workers that have just started are asked where so many open runs are, once each, which brings them into the cache, and hold them then. *Heap*: in use in the threads of the process after a garbage collection. *Memory*: what the process holds after that (VmRSS). Megabytes a run are the slope over the counts. How many fit in a gigabyte of heap follows from that; the process holds garbage of their replays as well, up to the heap limit that it is given.',
    table(
      [
        'lines',
        'V8 context',
        'runs held',
        'heap MB',
        'memory MB',
        'heap MB/run',
        'memory MB/run',
        'fit in 1 GB of heap',
      ],
      memoryRows(memory),
    ),
  ].join('\n\n');
}

function memoryRows(memory: readonly MemoryCell[]): string[][] {
  return grouped(memory, ({ lines, reuseV8Context }) => `${lines} ${reuseV8Context}`).map((own) => {
    const [first] = own;
    const of = (value: (cell: MemoryCell) => number) => own.map(value);
    const runs = of((cell) => cell.runs);
    const heap = slope(
      runs,
      of((cell) => cell.heapMb),
    );
    return [
      String(first?.lines),
      first?.reuseV8Context === true ? 'for all' : 'each its own',
      runs.join(', '),
      of((cell) => cell.heapMb)
        .map((mb) => mb.toFixed(0))
        .join(', '),
      of((cell) => cell.memoryMb)
        .map((mb) => mb.toFixed(0))
        .join(', '),
      heap.toFixed(2),
      slope(
        runs,
        of((cell) => cell.memoryMb),
      ).toFixed(2),
      (1_024 / heap).toFixed(0),
    ];
  });
}

/** Of the line through the points with the least squares. */
function slope(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x0, y0] = [mean(xs), mean(ys)];
  const over = xs.reduce((sum, x, n) => sum + (x - x0) * ((ys[n] ?? NaN) - y0), 0);
  return over / xs.reduce((sum, x) => sum + (x - x0) ** 2, 0);
}

function grouped<T>(cells: readonly T[], by: (cell: T) => string): T[][] {
  return [...Map.groupBy(cells, by).values()];
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = `|${head.map((_, n) => (n === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
