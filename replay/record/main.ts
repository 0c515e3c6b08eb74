import { Command, Option } from 'commander';
import ora from 'ora';
import { HISTORIES_DIR } from '../history/file.ts';
import { CURRENT_STAGE, STAGES, type Stage } from '../stages.ts';
import { agentPathsOf } from './agent-paths.ts';
import { pathsOf } from './paths.ts';
import { record } from './record.ts';

interface Options {
  stage: Stage;
  out: string;
}

/** `npm run histories`: records a stage of the workflows, the current one unless told. Exits 0 when all are written, 1 otherwise, 2 on bad input. */
await new Command('histories')
  .description(
    'Runs orders and the buying agent along every path on a real server and writes the histories.',
  )
  .argument('[paths...]', 'which paths; all when none is named', [])
  .addOption(new Option('--stage <stage>', 'of the change').choices(STAGES).default(CURRENT_STAGE))
  .option('--out <folder>', 'the folder of all stages', HISTORIES_DIR)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (names: string[], { stage, out }: Options, command: Command) => {
    const [orders, agents] = [pathsOf(stage), agentPathsOf(stage)];
    const known = [...orders, ...agents].map(({ name }) => name);
    if (!names.every((name) => known.includes(name))) {
      return command.error(`error: stage ${stage} has no such path; it has ${known.join(', ')}`);
    }
    const isChosen = ({ name }: { name: string }) => names.length === 0 || names.includes(name);
    const spinner = ora('starting').start();
    try {
      const files = await record({
        orders: orders.filter(isChosen),
        agents: agents.filter(isChosen),
        stage,
        dir: out,
        announce: (line) => (spinner.text = line),
      });
      spinner.succeed(`${files.length} histories of stage ${stage} in ${out}`);
    } catch (error) {
      spinner.fail(String(error));
      process.exitCode = 1;
    }
  })
  .parseAsync();
