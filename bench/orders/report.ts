import { STEPS } from '../../core/steps.ts';
import { IMPLEMENTATIONS } from '../../core/contract.ts';
import { median } from '../counters.ts';
import { describe } from '../machine.ts';
import type { OrdersCell, OrdersResult } from './run.ts';

/** The result as a page: what docs/measured/orders.md is. */
export function reportOrders({ machine, plan, cells }: OrdersResult): string {
  const rows = IMPLEMENTATIONS.map((implementation) => {
    const own = cells.filter((cell) => cell.implementation === implementation);
    const middle = (of: (cell: OrdersCell) => number) => median(own.map(of));
    return [
      implementation,
      middle((cell) => cell.ordersPerSecond).toFixed(1),
      // The store of Temporal's own server is not this database.
      implementation === 'temporal' ? '–' : middle((cell) => cell.commitsPerOrder).toFixed(1),
      implementation === 'temporal' ? '–' : middle((cell) => cell.commitsPerStep).toFixed(2),
      implementation === 'temporal' ? '–' : middle((cell) => cell.walBytesPerOrder).toFixed(0),
      middle((cell) => cell.workerCpuMsPerOrder).toFixed(1),
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
