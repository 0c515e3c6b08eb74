import { Command, Option } from 'commander';
import ora from 'ora';
import { HISTORIES_DIR } from '../history/file.ts';
import { CURRENT_STAGE, STAGES, type Stage } from '../stages.ts';
import { pathsOf, type RunPath } from './paths.ts';
import { record } from './record.ts';

interface Options {
  stage: Stage;
  out: string;
}

/** `npm run histories`: records a stage of the workflows, the current one unless told. Exits 0 when all are written, 1 otherwise, 2 on bad input. */
await new Command('histories')
  .description('Runs an order along every path on a real server and writes the histories.')
  .argument('[paths...]', 'which paths; all when none is named', [])
  .addOption(new Option('--stage <stage>', 'of the change').choices(STAGES).default(CURRENT_STAGE))
  .option('--out <folder>', 'the folder of all stages', HISTORIES_DIR)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (names: string[], { stage, out }: Options, command: Command) => {
    const known = pathsOf(stage);
    const named = names.map((name) => known.find((path) => path.name === name));
    if (!named.every((path) => path !== undefined)) {
      const there = known.map(({ name }) => name).join(', ');
      return command.error(`error: stage ${stage} has no such path; it has ${there}`);
    }
    const chosen: readonly RunPath[] = named.length === 0 ? known : named;
    const spinner = ora('starting').start();
    try {
      const files = await record({
        paths: chosen,
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
