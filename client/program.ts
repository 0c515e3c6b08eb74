import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addAgentCommands } from './cli/agent.ts';
import { addDeadLetterCommands } from './cli/dead-letters.ts';
import { addOrderCommands } from './cli/orders.ts';
import { addResetCommand } from './cli/reset.ts';
import { addVersionCommands } from './cli/versions.ts';
import { printError } from './answer.ts';
import { CommandError, toCommandError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Host } from './cli/shared.ts';
import { ownTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';
import { clean } from './view/text.ts';

const EPILOGUE = `
Every command takes --on chain|queue|temporal (the default). Temporal is found by TEMPORAL_ADDRESS and
the other TEMPORAL_* settings, queue and chain by DATABASE_URL, each otherwise in the running
\`npm run up\`. A chain takes orders and requests, and answers every question with why it can't.

Examples:
  $ q2t submit examples/orders/office-chairs.json --on queue
  $ q2t where PO-2026-0193 --on queue --history
  $ q2t agent ask "3 office chairs under 200 euro each" --follow

Exit codes: 0 done, 1 unexpected, 2 bad input, 3 not found, 4 conflict, 5 not confirmed.
Results go to stdout, hints and errors to stderr. client/README.md describes the --json documents.`;

/** Runs the command line on `args` (without node and script). Returns the exit code, never throws. */
export async function main(
  args: readonly string[],
  terminal: Terminal = ownTerminal,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const program = buildProgram({ terminal, ended: (code) => (exitCode = code) });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(toCommandError(error), args, terminal);
    // Asking for help or the version ends commander in the same way, with 0.
    if (error.exitCode === 0) return EXIT.done;
    // Commander has told people already, with the help of the command.
    if (!args.includes('--json')) return EXIT.badInput;
    return report(
      new CommandError(EXIT.badInput, error.message.replace(/^error: /, '')),
      args,
      terminal,
    );
  }
}

/** For what ends a command before it has begun. */
function report(error: CommandError, args: readonly string[], terminal: Terminal): ExitCode {
  const json = args.includes('--json');
  printError(error, { command: args[0] ?? null }, { json, terminal });
  return error.exitCode;
}

function buildProgram(host: Host): Command {
  const { stdout, stderr } = host.terminal;
  const program = new Command('q2t')
    .description('Purchase orders on a message chain, a hand-built queue or Temporal.')
    .version(version())
    .exitOverride()
    // It quotes what was typed, which may have come out of a file.
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      outputError: (message, write) =>
        write(message.trimEnd().split('\n').map(clean).join('\n') + '\n'),
    })
    // Inherited by every command: its own help follows what was wrong with its flags.
    .showHelpAfterError()
    .addHelpText('after', EPILOGUE);
  addOrderCommands(program, host);
  addDeadLetterCommands(program, host);
  addAgentCommands(program, host);
  addResetCommand(program, host);
  addVersionCommands(program, host);
  return program;
}

/** Of a terminal its own, otherwise what commander takes too. */
function widthOf({ isTTY, columns = 80 }: Terminal['stdout']): number {
  return isTTY === true ? columns : 80;
}

function version(): string {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  // Our own package.json, which npm requires to have one.
  return (JSON.parse(file) as { version: string }).version;
}
