import { Command, InvalidArgumentError } from 'commander';
import ora from 'ora';
import { HISTORIES_DIR } from '../history/file.ts';
import { CURRENT_STAGE } from '../stages.ts';
import { paths, type RunPath } from './paths.ts';
import { record } from './record.ts';

/** `npm run histories`: records the stage that the workflows are in. Exits 0 when all are written, 1 otherwise, 2 on bad input. */
await new Command('histories')
  .description('Runs an order along every path on a real server and writes the histories.')
  .argument('[paths...]', 'which paths; all when none is named', parsePath, [])
  .option('--out <folder>', 'the folder of all stages', HISTORIES_DIR)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (named: RunPath[], { out }: { out: string }) => {
    const chosen = named.length === 0 ? paths : named;
    const spinner = ora('starting').start();
    try {
      const files = await record({
        paths: chosen,
        stage: CURRENT_STAGE,
        dir: out,
        announce: (line) => (spinner.text = line),
      });
      spinner.succeed(`${files.length} histories of stage ${CURRENT_STAGE} in ${out}`);
    } catch (error) {
      spinner.fail(String(error));
      process.exitCode = 1;
    }
  })
  .parseAsync();

function parsePath(name: string, chosen: RunPath[]): RunPath[] {
  const found = paths.find((path) => path.name === name);
  if (found) return [...chosen, found];
  const known = paths.map((path) => path.name).join(', ');
  throw new InvalidArgumentError(`no such path; there are ${known}`);
}
