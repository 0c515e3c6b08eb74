import type { Command } from 'commander';
import type { ActionOptions } from '../commands/dead-letters.ts';
import { name, sentence } from '../inputs.ts';
import { ordersOf, requestsOf } from '../runs.ts';
import type { Runs } from '../runs.ts';
import type { Session } from '../session.ts';
import type { Host, Shared } from './shared.ts';
import { addCommand, BUYER, REFERENCE, REQUEST, runCommand } from './shared.ts';

/** Whose dead letters. */
interface Kind {
  command: string;
  reference: string;
  open: (session: Session) => Promise<Runs>;
  /** What discarding one comes to. */
  discarding: string;
}

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
  addShared(group, host, {
    command: 'dead-letters',
    reference: REFERENCE,
    open: async (session) => ordersOf(await session.pipeline()),
    discarding: 'Give the order up: what was done is undone.',
  });
  addFix(group, host);
}

/** The same for requests, without `fix`: one that was wrong is asked anew. */
export function addRequestDeadLetters(agent: Command, host: Host): void {
  const group = agent
    .command('dead-letters')
    .description('Requests that used up their budget of attempts: replay one or give it up.')
    .addHelpText(
      'after',
      `
Examples:
  $ q2t agent dead-letters list
  $ q2t agent dead-letters show REQ-7
  $ q2t agent dead-letters replay REQ-7 --by Ann --why "the key is valid again"
  $ q2t agent dead-letters discard REQ-7 --by Ann --why "asked anew"`,
    );
  addShared(group, host, {
    command: 'agent dead-letters',
    reference: REQUEST,
    open: async (session) => requestsOf(await session.agents()),
    discarding: 'Give the request up.',
  });
}

function addShared(group: Command, host: Host, kind: Kind): void {
  const { command, reference, open } = kind;
  addCommand(group, 'list', 'Everything that waits for an operator.').action(
    async (options: Shared) => {
      const { listDeadLetters } = await import('../commands/dead-letters.ts');
      await runCommand(`${command} list`, options, host, async (session) => {
        return listDeadLetters(await open(session));
      });
    },
  );
  addCommand(group, 'show', 'One of them, with its attempts and what changed between them.')
    .argument('<reference>', reference)
    .option('--buyer <id>', BUYER)
    .action(async (named: string, options: Shared & { buyer?: string }) => {
      const { showDeadLetter } = await import('../commands/dead-letters.ts');
      await runCommand(`${command} show`, options, host, async (session) => {
        const { now } = session;
        return showDeadLetter(await open(session), named, { buyer: options.buyer, now });
      });
    });
  const again = 'Try the step again. What was done before is not repeated.';
  addAction(group, 'replay', again, reference).action(
    async (named: string, options: Shared & ActionOptions) => {
      const { replay } = await import('../commands/dead-letters.ts');
      await runCommand(`${command} replay`, options, host, async (session) => {
        return replay(await open(session), named, options);
      });
    },
  );
  addAction(group, 'discard', kind.discarding, reference).action(
    async (named: string, options: Shared & ActionOptions) => {
      const { discard } = await import('../commands/dead-letters.ts');
      await runCommand(`${command} discard`, options, host, async (session) => {
        return discard(await open(session), named, options);
      });
    },
  );
}

function addFix(group: Command, host: Host): void {
  const summary = 'Go on with a corrected order, and show what it changed.';
  addAction(group, 'fix', summary, REFERENCE)
    .argument('<file>', 'the corrected order, or - for standard input')
    .action(async (reference: string, file: string, options: Shared & ActionOptions) => {
      const { fix } = await import('../commands/fix.ts');
      await runCommand('dead-letters fix', options, host, (session) => {
        return fix(session, reference, file, options);
      });
    });
}

function addAction(group: Command, action: string, summary: string, reference: string): Command {
  return addCommand(group, action, summary)
    .argument('<reference>', reference)
    .requiredOption('--by <name>', 'who does it', name)
    .requiredOption('--why <text>', 'why', sentence)
    .option('--buyer <id>', BUYER);
}
