import { STEPS } from '../../core/steps.ts';
import { IMPLEMENTATIONS } from '../../core/contract.ts';
import { describe } from '../machine.ts';
import type { OrdersCell, OrdersResult } from './run.ts';

/** The result as a page: what docs/measured/orders.md is. */
export function reportOrders({ machine, plan, cells }: OrdersResult): string {
  const rows = IMPLEMENTATIONS.map((implementation) => {
    const own = cells.filter((cell) => cell.implementation === implementation);
    const median = (of: (cell: OrdersCell) => number) => middle(own.map(of));
    return [
      implementation,
      median((cell) => cell.ordersPerSecond).toFixed(1),
      // The store of Temporal's own server is not this database.
      implementation === 'temporal' ? '–' : median((cell) => cell.commitsPerOrder).toFixed(1),
      implementation === 'temporal' ? '–' : median((cell) => cell.commitsPerStep).toFixed(2),
      implementation === 'temporal' ? '–' : median((cell) => cell.walBytesPerOrder).toFixed(0),
      median((cell) => cell.workerCpuMsPerOrder).toFixed(1),
    ].join(' | ');
  });
  return [
    '# Whole orders, measured',
    'Written by `npm run bench -- orders`; the single cells are in `orders.json`.',
    describe(machine),
    `Medians of ${plan.rounds} round(s) of ${plan.orders} one-line orders each, the implementations taking turns; one worker process, partners on the same machine, and the time from the first submit to the last mail. *Commits*: transactions that wrote, the children of the fan-out and the mail included; *a step*: divided by the ${STEPS.length} steps. Temporal's own store is in its server (SQLite in memory here) and not counted.`,
    [
      '| | orders/s | commits/order | commits/step | WAL bytes/order | worker CPU ms/order |',
      '|---|--:|--:|--:|--:|--:|',
      ...rows.map((row) => `| ${row} |`),
    ].join('\n'),
  ].join('\n\n');
}

function middle(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
