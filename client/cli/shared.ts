import type { Command, CommandOptions } from 'commander';
import { Option } from 'commander';
import { IMPLEMENTATIONS } from '../../core/contract.ts';
import type { Implementation } from '../../core/contract.ts';
import type { Answer } from '../answer.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export const REFERENCE = 'an order reference, or buyer/reference (both percent-encoded)';
export const REQUEST = "a request's reference, or buyer/reference (both percent-encoded)";
export const BUYER = 'whose order it is, when several buyers use the reference';

export interface Shared {
  on: Implementation;
  json: boolean;
}

/** Whom a command runs for. */
export interface Host {
  terminal: Terminal;
  /** Gets the exit code of the command that was run. */
  ended: (code: ExitCode) => void;
}

/** A command with what all of them have. */
export function addCommand(
  parent: Command,
  usage: string,
  summary: string,
  settings: CommandOptions = {},
): Command {
  return parent
    .command(usage, settings)
    .description(summary)
    .addOption(
      new Option('--on <implementation>', 'where the orders are')
        .choices(IMPLEMENTATIONS)
        .default('temporal'),
    )
    .option('--json', 'one JSON document on stdout', false);
}

/** Loads the code of a command when it's that command's turn, and runs it. */
export async function runCommand(
  command: string,
  shared: Shared,
  { terminal, ended }: Host,
  body: (session: Session) => Promise<Answer>,
): Promise<void> {
  const { run } = await import('../session.ts');
  ended(await run(command, shared, terminal, body));
}
