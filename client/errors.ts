import { inspect } from 'node:util';
import { InvalidOrder } from '../core/order/fault.ts';
import type { Fault } from '../core/order/fault.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';

/** A fault of what the user gave; `path` is inside the file, or the argument's name. */
export interface InputFault extends Fault {
  file?: string;
}

/** An end of a command that is not its normal answer, with everything a user should see of it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly faults: readonly InputFault[];

  constructor(
    exitCode: ExitCode,
    message: string,
    details: { hint?: string; faults?: readonly InputFault[]; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.exitCode = exitCode;
    this.hint = details.hint;
    this.faults = details.faults ?? [];
  }
}

/** A request that is wrong in itself: exit 2. */
export function badInput(message: string, faults: readonly InputFault[] = []): CommandError {
  return new CommandError(EXIT.badInput, message, { faults });
}

/** Whatever was thrown, as an error a user can read. A stack trace is for Q2T_DEBUG only. */
export function toCommandError(thrown: unknown): CommandError {
  if (thrown instanceof CommandError) return thrown;
  if (thrown instanceof InvalidOrder) return badInput('The order has faults.', thrown.faults);
  // By name: its class would bring the SDK's configuration along, which a bad flag need not wait for.
  if (thrown instanceof Error && thrown.name === 'TargetError') {
    return new CommandError(EXIT.unexpected, thrown.message, { cause: thrown });
  }
  return new CommandError(EXIT.unexpected, messageOf(thrown), {
    hint: 'Run it again with Q2T_DEBUG=1 to see where this came from.',
    cause: thrown,
  });
}

/** The message and those of its causes, without repeating one that a wrapper copied. */
export function messageOf(thrown: unknown): string {
  const messages: string[] = [];
  // Causes can be circular; five are more than anybody reads.
  for (let error = thrown; error !== undefined && messages.length < 5;) {
    const message = error instanceof Error ? ownMessage(error) : inspect(error);
    if (!messages.some((known) => known.includes(message))) messages.push(message);
    error = error instanceof Error ? error.cause : undefined;
  }
  return messages.join(': ');
}

/** A name with several addresses fails with an error for each and no message of its own. */
function ownMessage(error: Error): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(messageOf).join(', ');
  }
  return error.message || error.name;
}
