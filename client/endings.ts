import type { Cannot, Implementation } from '../core/contract.ts';
import type { Answer } from './answer.ts';
import { CommandError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { Runs } from './runs.ts';
import { commandOn } from './view/commands.ts';
import { clean } from './view/text.ts';

/** Exit 3: nobody has this order, or this request. */
export function notFound(
  { implementation, noun, prefix }: Pick<Runs, 'implementation' | 'noun' | 'prefix'>,
  reference: string,
  what: string = noun,
): CommandError {
  const message = `There is no ${what} ${reference} on ${implementation}.`;
  const list = commandOn(implementation, `${prefix}list`);
  const hint = `A reference belongs to a buyer: try buyer/reference, or --buyer ID. ${list} shows what runs.`;
  return new CommandError(EXIT.notFound, message, { hint });
}

/** Exit 2: asking this of this implementation is the mistake, and no repeating will help. */
export function cannot(
  { implementation }: { implementation: Implementation },
  { reason }: Cannot,
): CommandError {
  return new CommandError(EXIT.badInput, `${implementation} cannot: ${reason}`);
}

/** Exit 5: nothing answered in time. */
export function notConfirmed(json: Record<string, unknown>, reason: string): Answer {
  return {
    exitCode: EXIT.notConfirmed,
    json,
    out: [`not confirmed: ${clean(reason)}`],
    err: ['Repeat the command: the same answer counts once.'],
  };
}
