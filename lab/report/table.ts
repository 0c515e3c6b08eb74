import Table from 'cli-table3';
import type { Implementation } from '../../core/contract.ts';
import type { Result } from '../running/job.ts';
import type { Scenario } from '../scenario.ts';
import { cellOf } from './cell.ts';

const SCENARIO_WIDTH = 34;
const CELL_WIDTH = 34;

/** One row per scenario, one column per implementation; what is not as expected is marked WRONG. */
export function tableOf(
  scenarios: readonly Scenario[],
  on: readonly Implementation[],
  results: readonly Result[],
): string {
  const table = new Table({
    head: ['scenario', ...on],
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: [SCENARIO_WIDTH, ...on.map(() => CELL_WIDTH)],
  });
  for (const { name, claim } of scenarios) {
    const cells = on.map((implementation) => {
      const result = results.find(
        (each) =>
          each.scenario === name &&
          each.implementation === implementation &&
          each.without === undefined,
      );
      return result ? textOf(result) : '';
    });
    table.push([`${name}\n${claim}`, ...cells]);
  }
  return table.toString();
}

/** What each missing guard breaks: the rungs on which most teams stand. */
export function ladderOf(results: readonly Result[]): string {
  const table = new Table({
    head: ['without', 'on', 'scenario', 'what happens'],
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: [28, 10, 24, 60],
  });
  for (const result of results) {
    table.push([result.without ?? '', result.implementation, result.scenario, textOf(result)]);
  }
  return table.toString();
}

function textOf(result: Result): string {
  const { verdict, figures, wrong } = cellOf(result);
  return [wrong === undefined ? verdict : `WRONG: ${verdict}`, wrong, figures]
    .filter(Boolean)
    .join('\n');
}
