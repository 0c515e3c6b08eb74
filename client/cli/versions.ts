import type { Command } from 'commander';
import type { VersionsOptions } from '../commands/versions.ts';
import { name, percent } from '../inputs.ts';
import type { Host, Shared } from './shared.ts';
import { addCommand, BUYER, REFERENCE, runCommand } from './shared.ts';

const VERSION = 'as `versions` lists it; on temporal the build id alone is enough';

/** Which versions of the code there are, which one new runs begin on, and where an open run goes on. */
export function addVersionCommands(program: Command, host: Host): void {
  const group = program
    .command('versions')
    .description('Versions of the code: their runs, their workers, where new runs begin.')
    .addHelpText(
      'after',
      `
A new version takes over in steps: start its workers, ramp some of the new runs to it, make it current;
setting the older one again is the rollback. docs/versioning.md says what happens to open runs.

Examples:
  $ q2t versions
  $ q2t versions --on queue
  $ q2t versions ramp 1.5.0 10 --by Ann
  $ q2t versions ramp 1.5.0 0 --by Ann              ends the ramp
  $ q2t versions set-current 1.5.0 --by Ann
  $ q2t versions move acme/1 1.5.0 --by Ann
  $ q2t versions move acme/1 auto-upgrade --by Ann  follows the current one (temporal)`,
    );
  addList(group, host);
  addSetCurrent(group, host);
  addRamp(group, host);
  addMove(group, host);
}

function addList(group: Command, host: Host): void {
  const summary = 'What runs on which version, and which may be switched off. Without a command.';
  addCommand(group, 'list', summary, { isDefault: true }).action(async (options: Shared) => {
    const { listVersions } = await import('../commands/versions.ts');
    await runCommand('versions', options, host, listVersions);
  });
}

function addSetCurrent(group: Command, host: Host): void {
  addChange(group, 'set-current', 'All new runs begin on this version.')
    .argument('<version>', VERSION)
    .action(async (version: string, options: Shared & VersionsOptions) => {
      const { setCurrent } = await import('../commands/versions.ts');
      await runCommand('versions set-current', options, host, (session) => {
        return setCurrent(session, version, options);
      });
    });
}

function addRamp(group: Command, host: Host): void {
  addChange(group, 'ramp', 'A part of the new runs begins on this version; 0 ends the ramp.')
    .argument('<version>', VERSION)
    .argument('<percent>', 'of the new runs', percent)
    .action(async (version: string, share: number, options: Shared & VersionsOptions) => {
      const { ramp } = await import('../commands/versions.ts');
      await runCommand('versions ramp', options, host, (session) => {
        return ramp(session, version, share, options);
      });
    });
}

function addMove(group: Command, host: Host): void {
  addChange(group, 'move', 'An open order goes on with the code of another version.')
    .argument('<reference>', REFERENCE)
    .argument('<version>', `${VERSION}, or auto-upgrade`)
    .option('--buyer <id>', BUYER)
    .action(
      async (
        reference: string,
        version: string,
        options: Shared & VersionsOptions & { buyer?: string },
      ) => {
        const { move } = await import('../commands/versions.ts');
        await runCommand('versions move', options, host, (session) => {
          return move(session, reference, version, options);
        });
      },
    );
}

function addChange(group: Command, action: string, summary: string): Command {
  return addCommand(group, action, summary).requiredOption('--by <name>', 'who does it', name);
}
