import type { Command } from 'commander';
import type { ResetOptions } from '../commands/reset.ts';
import { eventId, name, sentence } from '../inputs.ts';
import type { Host, Shared } from './shared.ts';
import { addCommand, BUYER, REFERENCE, runCommand } from './shared.ts';

/** The operator's command on what stands still after a bad deploy. */
export function addResetCommand(program: Command, host: Host): void {
  addCommand(program, 'reset', 'Take an order back to where the code that runs now can go on.')
    .argument('<reference>', REFERENCE)
    .requiredOption('--by <name>', 'who does it', name)
    .requiredOption('--why <text>', 'why', sentence)
    .option('--to <event>', "drop the run's history from this event on", eventId)
    .option('--buyer <id>', BUYER)
    .addHelpText(
      'after',
      `
For a run on Temporal that is stuck because the code can't follow its history. What the run did from
there on is done again under the same effect keys, so no effect happens twice. A question that is asked
again wants a new answer: one that was given before comes early, and is kept in the history.

Examples:
  $ q2t list --status stuck
  $ q2t where PO-2026-0193
  $ q2t reset PO-2026-0193 --by Ann --why "stays on the new version"
  $ q2t reset PO-2026-0193 --by Ann --why "begins anew" --to 4`,
    )
    .action(async (reference: string, options: Shared & ResetOptions) => {
      const { reset } = await import('../commands/reset.ts');
      await runCommand('reset', options, host, (session) => reset(session, reference, options));
    });
}
