import { describe } from '../machine.ts';
import type { ReplayResult } from './run.ts';

/** The result as a page: what docs/measured/replay.md is. */
export function reportReplay({ machine, plan, speed, cold, cache }: ReplayResult): string {
  const speeds = grouped(speed, ({ name }) => name).map((own) => [
    own[0]?.name ?? '',
    middle(own.map(({ events }) => events)).toFixed(0),
    middle(own.map(({ msPerReplay }) => msPerReplay)).toFixed(1),
    middle(own.map(({ eventsPerSecond }) => eventsPerSecond)).toFixed(0),
  ]);
  const colds = grouped(cold, ({ run }) => run).map((own) => [
    middle(own.map(({ events }) => events)).toFixed(0),
    middle(own.map(({ coldMs }) => coldMs)).toFixed(0),
    middle(own.map(({ warmMs }) => warmMs)).toFixed(1),
  ]);
  const caches = grouped(cache, ({ size }) => String(size)).map((own) => [
    own[0]?.asked === undefined ? `${own[0]?.size} (the SDK's default)` : String(own[0].size),
    middle(own.map(({ tasksPerSecond }) => tasksPerSecond)).toFixed(0),
    middle(own.map(({ cpuMsPerTask }) => cpuMsPerTask)).toFixed(1),
    middle(own.map(({ memoryMb }) => memoryMb)).toFixed(0),
  ]);
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
    '## The cache',
    `${plan.runs} open runs get answers in turn, 8 at a time, in another order each time, each answer one workflow task without an activity. *Memory*: the worker's process after that. A run that is not in the cache is replayed from its history for every answer; histories grow with each answer, so only the cells of one round compare.`,
    table(['cached runs at most', 'tasks/s', 'worker CPU ms/task', 'memory MB'], caches),
    'The default comes from the heap limit of the process. The memory is what the process holds, garbage of its replays included, which differs by more than so few cached runs take: it is no measure of one run.',
  ].join('\n\n');
}

function grouped<T>(cells: readonly T[], by: (cell: T) => string): T[][] {
  return [...Map.groupBy(cells, by).values()];
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = `|${head.map((_, n) => (n === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function middle(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
