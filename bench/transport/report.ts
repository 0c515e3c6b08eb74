import { median } from '../counters.ts';
import { describe } from '../machine.ts';
import type { Mode } from './contender.ts';
import type { Cell } from './measure.ts';
import { CONTENDERS, type MeasuredCell, type TransportResult } from './run.ts';

const [OURS] = CONTENDERS;
const OTHERS = ['pg-boss', 'graphile-worker'];

/** The result as a page: what docs/measured/transport.md is. */
export function reportTransport(result: TransportResult): string {
  const { machine, plan, cells, notify } = result;
  const { silent, hinting, inTransaction } = notify.sendsPerSecond;
  const steady = cells.filter((cell) => !cell.oldSnapshot);
  const snapshot = cells.filter((cell) => cell.oldSnapshot);
  return [
    '# The transport, measured',
    'Written by `npm run bench -- transport`; the single cells are in `transport.json`.',
    describe(machine),
    `Each number is the median of ${plan.rounds} round(s), the contenders taking turns. A job is empty; its whole life counts: sent, received, completed. ${plan.unbatchedJobs} jobs a cell unbatched, ${plan.batchedJobs} batched. *Ratio*: ours against the better of pg-boss and graphile-worker. *Start*: from send to start, ${plan.wakePerSecond} single jobs a second, workers otherwise idle. *Commits*: transactions that wrote. pg-boss is drained by fetch and complete in a loop, since its own polling starts at half a second, and without its NOTIFY, which is its default; for *start* it has its NOTIFY. graphile-worker notifies in every send's transaction and can't be told not to.`,
    '"Ours" does not wait for the disk in a receive (a lost claim is one more delivery); "ours, flushed claims" does, as the other two do.',
    '## Unbatched',
    table(steady.filter((cell) => cell.mode.batch === 1)),
    '## Batched',
    table(steady.filter((cell) => cell.mode.batch > 1)),
    '## While another connection holds an old snapshot',
    'Dead rows can’t be vacuumed then, and every claim steps over them (case A17).',
    table(snapshot),
    '## NOTIFY and committing producers',
    `${notify.producers} producers, each committing single sends (case A15): ${round(silent)} sends/s without any notification, ${round(hinting)} with our hints (${ratio(hinting, silent)} of it), ${round(inTransaction)} with a NOTIFY in every transaction (${ratio(inTransaction, silent)}).`,
  ].join('\n\n');
}

function table(cells: MeasuredCell[]): string {
  const header =
    '| workers | | jobs/s | ratio | sends/s | drained/s | start p50 ms | p99 ms | commits/job | WAL bytes/job | dead rows |';
  const modes = distinctModes(cells);
  const rows = modes.flatMap((mode) => {
    const inMode = cells.filter((cell) => sameMode(cell.mode, mode));
    const best = Math.max(...OTHERS.map((name) => medianCell(inMode, name)?.jobsPerSecond ?? NaN));
    return CONTENDERS.flatMap(({ name }) => {
      const cell = medianCell(inMode, name);
      return cell === undefined ? [] : [row(mode, name, cell, best)];
    });
  });
  return [header, '|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|', ...rows].join('\n');
}

function row(mode: Mode, name: string, cell: Cell, best: number): string {
  const isOurs = OURS !== undefined && name.startsWith(OURS.name);
  const columns = [
    name === OURS?.name ? `${mode.workers}${mode.batch > 1 ? ` × ${mode.batch}` : ''}` : '',
    name,
    round(cell.jobsPerSecond),
    isOurs ? (cell.jobsPerSecond / best).toFixed(2) : '',
    round(cell.sendsPerSecond),
    round(cell.drainsPerSecond),
    cell.startP50Ms.toFixed(1),
    cell.startP99Ms.toFixed(1),
    cell.commitsPerJob.toFixed(2),
    round(cell.walBytesPerJob),
    round(cell.deadRows),
  ];
  return `| ${columns.join(' | ')} |`;
}

function distinctModes(cells: MeasuredCell[]): Mode[] {
  return cells
    .map((cell) => cell.mode)
    .filter((mode, index, modes) => modes.findIndex((other) => sameMode(mode, other)) === index);
}

function sameMode(a: Mode, b: Mode): boolean {
  return a.workers === b.workers && a.batch === b.batch;
}

/** Number by number: the median of the rounds. Undefined when the contender was not measured. */
export function medianCell(cells: MeasuredCell[], contender: string): Cell | undefined {
  const rounds = cells.filter((cell) => cell.contender === contender);
  if (rounds.length === 0) return undefined;
  const of = (field: keyof Cell) => median(rounds.map((cell) => cell[field]));
  return {
    jobsPerSecond: of('jobsPerSecond'),
    sendsPerSecond: of('sendsPerSecond'),
    drainsPerSecond: of('drainsPerSecond'),
    commitsPerJob: of('commitsPerJob'),
    walBytesPerJob: of('walBytesPerJob'),
    startP50Ms: of('startP50Ms'),
    startP99Ms: of('startP99Ms'),
    deadRows: of('deadRows'),
  };
}

function round(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function ratio(part: number, whole: number): string {
  return `${Math.round((part * 100) / whole)} %`;
}
