import type { Command } from 'commander';
import { Argument, Option } from 'commander';
import type { RunFilter } from '../../core/contract.ts';
import { STATUSES, STEPS } from '../../core/steps.ts';
import type { DecideOptions } from '../commands/decide.ts';
import { gateVersion, limit, name, sentence } from '../inputs.ts';
import type { Host, Shared } from './shared.ts';
import { addCommand, BUYER, REFERENCE, runCommand } from './shared.ts';

/** submit, where, decide, cancel and list. */
export function addOrderCommands(program: Command, host: Host): void {
  addSubmit(program, host);
  addWhere(program, host);
  addDecide(program, host);
  addCancel(program, host);
  addList(program, host);
}

function addSubmit(program: Command, host: Host): void {
  addCommand(program, 'submit', 'Start orders: JSON (one or an array) or UBL 2.x Order XML.')
    .argument('<file...>', 'files, or - for standard input')
    .addHelpText(
      'after',
      `
All files are read and checked before the first order is started. The same order again is no
mistake: it is answered with "already running" or "already finished".

Examples:
  $ q2t submit examples/orders/office-chairs.json
  $ q2t submit orders/*.xml --json
  $ q2t submit examples/orders/office-chairs.json --on chain
  $ curl -s https://shop.example/orders/7 | q2t submit -`,
    )
    .action(async (files: string[], options: Shared) => {
      const { submit } = await import('../commands/submit.ts');
      await runCommand('submit', options, host, (session) => submit(session, files));
    });
}

function addWhere(program: Command, host: Host): void {
  type Options = Shared & { history?: true; buyer?: string };
  addCommand(program, 'where', 'Say where an order is, also while every worker is dead.')
    .argument('<reference>', REFERENCE)
    .option('--history', 'also how it got there')
    .option('--buyer <id>', BUYER)
    .addHelpText(
      'after',
      `
Examples:
  $ q2t where PO-2026-0193
  $ q2t where acme/1 --history
  $ q2t where acme/1 --on queue
  $ q2t where 2026/17 --buyer acme      a reference with a slash`,
    )
    .action(async (reference: string, options: Options) => {
      const { where } = await import('../commands/where.ts');
      await runCommand('where', options, host, (session) => where(session, reference, options));
    });
}

function addDecide(program: Command, host: Host): void {
  addCommand(program, 'decide', 'Answer the question an order waits for.')
    .argument('<reference>', REFERENCE)
    .addArgument(new Argument('<decision>', 'the answer').choices(['approve', 'reject']))
    .requiredOption('--by <name>', 'who answers', name)
    .option('--note <text>', 'why', sentence)
    .option('--gate <name>', 'the question, unless it is the open one', name)
    .option('--gate-version <number>', 'which asking of it', gateVersion)
    .option('--buyer <id>', BUYER)
    .addHelpText(
      'after',
      `
Without --gate it answers the question that is open now. An answer that comes early, late or second
is a conflict (exit 4) and is kept in the order's history. Exit 5 means that no worker could confirm
it in time (on Temporal; the queue needs none): repeat the command, the same answer counts once.

Examples:
  $ q2t decide PO-2026-0193 approve --by Ann
  $ q2t decide PO-2026-0193 approve --by Ann --on queue
  $ q2t decide acme/1 reject --by Ann --note "over budget"
  $ q2t decide acme/1 approve --by Ann --gate approval --gate-version 2`,
    )
    .action(
      async (
        reference: string,
        decision: 'approve' | 'reject',
        options: Shared & DecideOptions,
      ) => {
        const { decide } = await import('../commands/decide.ts');
        await runCommand('decide', options, host, (session) => {
          return decide(session, reference, decision, options);
        });
      },
    );
}

function addCancel(program: Command, host: Host): void {
  type Options = Shared & { by: string; reason: string; buyer?: string };
  addCommand(program, 'cancel', 'Take an order back: it stops and undoes what it did.')
    .argument('<reference>', REFERENCE)
    .requiredOption('--by <name>', 'who takes it back', name)
    .requiredOption('--reason <text>', 'why', sentence)
    .option('--buyer <id>', BUYER)
    .addHelpText(
      'after',
      `
Examples:
  $ q2t cancel PO-2026-0193 --by Ann --reason "ordered twice"
  $ q2t cancel PO-2026-0193 --by Ann --reason "ordered twice" --on queue`,
    )
    .action(async (reference: string, options: Options) => {
      const { cancel } = await import('../commands/cancel.ts');
      await runCommand('cancel', options, host, (session) => cancel(session, reference, options));
    });
}

function addList(program: Command, host: Host): void {
  addCommand(program, 'list', 'List orders, the newest first.')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES))
    .addOption(new Option('--step <step>', 'only those at this step').choices(STEPS))
    .option('--limit <number>', 'at most this many', limit, 100)
    .addHelpText(
      'after',
      `
Examples:
  $ q2t list --status waiting
  $ q2t list --status stuck --on queue
  $ q2t list --status ended --limit 10
  $ q2t list --json | jq -r '.result.runs[].id.orderRef'`,
    )
    .action(async ({ on, json, ...filter }: Shared & RunFilter) => {
      const { list } = await import('../commands/list.ts');
      await runCommand('list', { on, json }, host, (session) => list(session, filter));
    });
}
