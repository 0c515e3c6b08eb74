import { median } from '../counters.ts';
import { describe } from '../machine.ts';
import { SHAPES, SIDES, type AgentsCell, type AgentsResult } from './run.ts';

/** The result as a page: what docs/measured/agents.md is. */
export function reportAgents(result: AgentsResult): string {
  const { machine, plan } = result;
  return [
    '# Runs of the agent, measured',
    'Written by `npm run bench -- agents`; the single cells are in `agents.json`.',
    describe(machine),
    `Medians of ${plan.rounds} round(s), the implementations taking turns; one worker process, partners and the scripted model on the same machine. *Short*: ${plan.requests} requests at once for chairs, an order each. *Long*: one run that reads data sheets for ${plan.turns} turns before it orders. Every figure is for one run, its order included; seconds are of the whole cell, divided by its runs. *Commits* are transactions that wrote. Temporal's own store is in its server (SQLite in memory here): of it the agent's history is counted, its order's is not.`,
    tableOfAgents(result),
  ].join('\n\n');
}

/** The figures alone, as docs/agent.md has them too. */
export function tableOfAgents({ plan, cells }: AgentsResult): string {
  const rows = SHAPES.flatMap((shape) =>
    SIDES.map((implementation) => {
      const own = cells.filter(
        (cell) => cell.shape === shape && cell.implementation === implementation,
      );
      return rowOf(own, { shape, implementation }, shape === 'short' ? plan.requests : 1);
    }),
  );
  return [
    '| | model calls | tokens | EUR/1000 | s/run | worker CPU ms | store KB | commits | WAL KB | events | history KB | executions |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
}

function rowOf(
  cells: readonly AgentsCell[],
  { shape, implementation }: Pick<AgentsCell, 'shape' | 'implementation'>,
  runs: number,
): string[] {
  const of = (figure: (cell: AgentsCell) => number) => median(cells.map(figure));
  // What Temporal's workers commit in this database are the orders' invoices.
  const ours = (text: string) => (implementation === 'temporal' ? '–' : text);
  const theirs = (text: string) => (implementation === 'temporal' ? text : '–');
  return [
    `${shape}, ${implementation}`,
    of(({ calls }) => calls).toFixed(0),
    of(({ tokens }) => tokens).toFixed(0),
    (of(({ microEur }) => microEur) / 1_000).toFixed(2),
    (of(({ seconds }) => seconds) / runs).toFixed(2),
    of(({ cpuMs }) => cpuMs).toFixed(0),
    kilobytes(of(({ storeBytes }) => storeBytes)),
    ours(of(({ commits }) => commits).toFixed(1)),
    ours(kilobytes(of(({ walBytes }) => walBytes))),
    theirs(of(({ events }) => events).toFixed(0)),
    theirs(kilobytes(of(({ historyBytes }) => historyBytes))),
    theirs(of(({ executions }) => executions).toFixed(1)),
  ];
}

function kilobytes(bytes: number): string {
  return (bytes / 1_000).toFixed(0);
}
