import { Command, InvalidArgumentError, Option } from 'commander';
import { availableParallelism } from 'node:os';
import { IMPLEMENTATIONS, type Implementation } from '../core/contract.ts';
import { onStopSignal } from '../stack/stop-signal.ts';
import { explain } from './report/show.ts';
import { runLab, type LabOptions } from './run-lab.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/all.ts';

/**
 * `npm run lab`: the same faults against chain, queue and temporal, and the table of what came of them.
 * Exits 0 when every outcome is the expected one, 1 when one is not, 2 on bad input, 130 when stopped.
 */
const program = new Command('lab')
  .description('Puts the same faults to chain, queue and temporal, and shows which of them hold.')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

program
  .command('run', { isDefault: true })
  .description('run scenarios and print the table (the default)')
  .argument('[names...]', 'scenarios to run; all when none is named', parseName, [])
  .option('--on <list>', 'chain, queue, temporal, separated by commas', parseOn, [
    ...IMPLEMENTATIONS,
  ])
  .option('--full', 'large sizes and the whole crash matrix', false)
  .option('--ladder', 'instead, what breaks when a guard is missing', false)
  .option('--seed <number>', 'for everything drawn by lot', parseCount, 1)
  .option('--jobs <count>', 'scenarios side by side', parseCount, availableParallelism() + 2)
  .option('--slow', 'one after the other, told step by step, with time to look around', false)
  .option('--json', 'print the results as JSON', false)
  .option('--out <folder>', 'where the page of a whole run goes', 'docs/measured')
  .addOption(new Option('--check', 'compare with the page instead of writing it').default(false))
  .action(async (names: string[], options: Omit<LabOptions, 'scenarios' | 'signal'>) => {
    const chosen = scenarios.filter(({ name }) => names.length === 0 || names.includes(name));
    const stopped = new AbortController();
    const unheard = onStopSignal({
      stop: () => {
        console.error('stopping everything');
        stopped.abort(new Error('the lab was stopped'));
      },
      force: () => process.exit(130),
    });
    const right = await runLab({ ...options, scenarios: chosen, signal: stopped.signal });
    unheard();
    process.exit(stopped.signal.aborted ? 130 : right ? 0 : 1);
  });

program
  .command('show')
  .description('explain one scenario: the fault, what is counted, where the code is')
  .argument('<name>', 'the scenario', findScenario)
  .action((scenario: Scenario) => console.log(explain(scenario)));

program
  .command('list')
  .description('all scenarios, one line each')
  .action(() => {
    for (const { name, claim } of scenarios) console.log(`${name}: ${claim}`);
  });

await program.parseAsync();

function parseName(name: string, names: string[]): string[] {
  return [...names, findScenario(name).name];
}

function findScenario(wanted: string): Scenario {
  const found = scenarios.find(({ name }) => name === wanted);
  if (found) return found;
  const known = scenarios.map(({ name }) => name).join(', ');
  throw new InvalidArgumentError(`no such scenario; there are ${known}`);
}

function parseOn(list: string): Implementation[] {
  const named = list.split(',').map((name) => name.trim());
  const unknown = named.filter((name) => !IMPLEMENTATIONS.some((known) => known === name));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`use ${IMPLEMENTATIONS.join(', ')}, separated by commas`);
  }
  return IMPLEMENTATIONS.filter((known) => named.includes(known));
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('give a whole number of at least 1');
}
