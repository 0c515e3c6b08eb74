import { Command, InvalidArgumentError, Option } from 'commander';
import ora from 'ora';
import { toCommandError } from '../client/errors.ts';
import type { Answer } from './answer.ts';

interface Options {
  cut: boolean;
  live?: true;
  canRemove?: string;
  query?: string;
  limit: number;
  bundle?: string;
  json: boolean;
}

const EPILOGUE = `
--live and --can-remove find the server as every command here does: TEMPORAL_ADDRESS, the other TEMPORAL_*
settings and temporal.toml, otherwise the running \`npm run up\`. Both only read.

Exit codes: 0 everything replays, or the patch can go; 1 not; 2 bad input.`;

/** `npm run replay`: what runs have done, against what the code would do now. */
await new Command('replay')
  .description('Replays histories against the workflows and says which the code does not follow.')
  .argument('[files...]', 'history files, ours or of `temporal workflow show --output json`')
  .option('--cut', 'also each history as it stood after every workflow task', false)
  .option('--bundle <file>', 'against this bundle; default: workflows/ as it is now')
  .addOption(new Option('--live', "a server's open runs instead of recorded ones").conflicts('cut'))
  .option('--query <query>', 'with --live: which of the open runs, in the words of visibility')
  .option('--limit <count>', 'with --live: at most so many', parseCount, 1_000)
  .addOption(
    new Option(
      '--can-remove <patch>',
      'whether every open run has this patch, so that the code from before it can go',
    ).conflicts(['live', 'cut', 'bundle']),
  )
  .option('--json', 'print the result as JSON', false)
  .addHelpText('after', EPILOGUE)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (files: string[], options: Options, command: Command) => {
    if (options.live !== true && options.query !== undefined && options.canRemove === undefined) {
      command.error('error: --query goes with --live or --can-remove');
    }
    if (files.length > 0 && (options.live === true || options.canRemove !== undefined)) {
      command.error('error: give files, or --live, or --can-remove');
    }
    const spinner = ora({ text: 'bundling the workflows', isSilent: options.json }).start();
    const announce = (text: string) => (spinner.text = text);
    try {
      const { ok, text, json } = await answerTo(files, options, announce);
      spinner.stop();
      console.log(options.json ? JSON.stringify(json, null, 2) : text);
      process.exitCode = ok ? 0 : 1;
    } catch (error) {
      spinner.stop();
      const { message, exitCode } = toCommandError(error);
      console.error(message);
      process.exitCode = exitCode;
    }
  })
  .parseAsync();

/** The SDK takes a while to load: `--help` and bad arguments don't wait for it. */
async function answerTo(
  files: string[],
  { live, canRemove: patch, query, limit, bundle, cut }: Options,
  announce: (text: string) => void,
): Promise<Answer> {
  const filter = query === undefined ? {} : { query };
  if (patch !== undefined) {
    const { canRemove } = await import('./live/can-remove.ts');
    return canRemove({ patch, ...filter });
  }
  const { replayQuietly } = await import('./gate/quiet.ts');
  replayQuietly();
  const against = bundle === undefined ? {} : { bundle };
  if (live === true) {
    const { replayLive } = await import('./live/replay-live.ts');
    return replayLive({ ...filter, ...against, limit, announce });
  }
  const { replayRecorded } = await import('./recorded.ts');
  return replayRecorded({ files, ...against, cut, announce });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('give a whole number of at least 1');
}
