import type { Command } from 'commander';
import type { ActionOptions } from '../commands/dead-letters.ts';
import { name, sentence } from '../inputs.ts';
import { BUYER, REFERENCE } from './orders.ts';
import type { Host, Shared } from './shared.ts';
import { addCommand, runCommand } from './shared.ts';

/** The operator's commands on what used up its budget. */
export function addDeadLetterCommands(program: Command, host: Host): void {
  const group = program
    .command('dead-letters')
    .description('What used up its budget: look at it, replay it, fix it or give it up.')
    .addHelpText(
      'after',
      `
Examples:
  $ q2t dead-letters list
  $ q2t dead-letters list --on queue
  $ q2t dead-letters show acme/1
  $ q2t dead-letters replay acme/1 --by Ann --why "the warehouse is back"
  $ q2t dead-letters fix acme/1 corrected.json --by Ann --why "wrong sku"
  $ q2t dead-letters discard acme/1 --by Ann --why "ordered elsewhere"`,
    );
  addList(group, host);
  addShow(group, host);
  addReplay(group, host);
  addDiscard(group, host);
  addFix(group, host);
}

function addList(group: Command, host: Host): void {
  addCommand(group, 'list', 'Everything that waits for an operator.').action(
    async (options: Shared) => {
      const { listDeadLetters } = await import('../commands/dead-letters.ts');
      await runCommand('dead-letters list', options, host, listDeadLetters);
    },
  );
}

function addShow(group: Command, host: Host): void {
  addCommand(group, 'show', 'One of them, with its attempts and what changed between them.')
    .argument('<reference>', REFERENCE)
    .option('--buyer <id>', BUYER)
    .action(async (reference: string, options: Shared & { buyer?: string }) => {
      const { showDeadLetter } = await import('../commands/dead-letters.ts');
      await runCommand('dead-letters show', options, host, (session) => {
        return showDeadLetter(session, reference, options);
      });
    });
}

function addReplay(group: Command, host: Host): void {
  addAction(group, 'replay', 'Try the step again. What was done before is not repeated.').action(
    async (reference: string, options: Shared & ActionOptions) => {
      const { replay } = await import('../commands/dead-letters.ts');
      await runCommand('dead-letters replay', options, host, (session) => {
        return replay(session, reference, options);
      });
    },
  );
}

function addDiscard(group: Command, host: Host): void {
  addAction(group, 'discard', 'Give the order up: what was done is undone.').action(
    async (reference: string, options: Shared & ActionOptions) => {
      const { discard } = await import('../commands/dead-letters.ts');
      await runCommand('dead-letters discard', options, host, (session) => {
        return discard(session, reference, options);
      });
    },
  );
}

function addFix(group: Command, host: Host): void {
  addAction(group, 'fix', 'Go on with a corrected order, and show what it changed.')
    .argument('<file>', 'the corrected order, or - for standard input')
    .action(async (reference: string, file: string, options: Shared & ActionOptions) => {
      const { fix } = await import('../commands/fix.ts');
      await runCommand('dead-letters fix', options, host, (session) => {
        return fix(session, reference, file, options);
      });
    });
}

function addAction(group: Command, action: string, summary: string): Command {
  return addCommand(group, action, summary)
    .argument('<reference>', REFERENCE)
    .requiredOption('--by <name>', 'who does it', name)
    .requiredOption('--why <text>', 'why', sentence)
    .option('--buyer <id>', BUYER);
}
