import type { Implementation, Pipeline } from '../core/contract.ts';
import { CommandError, messageOf } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { Target } from './target.ts';

/** Opens one of the three implementations at `target`. Throws a CommandError that a user can act on. */
export async function open(implementation: Implementation, target: Target): Promise<Pipeline> {
  switch (implementation) {
    case 'temporal':
      return openTemporalAt(target);
    case 'queue':
    case 'chain':
      throw new CommandError(EXIT.badInput, `${implementation} is not there yet.`, {
        hint: 'Use --on temporal.',
      });
    default:
      return implementation satisfies never;
  }
}

async function openTemporalAt({ temporal, taskQueue }: Target): Promise<Pipeline> {
  const { address, namespace, options } = temporal;
  const { openTemporal } = await import('./pipelines/temporal.ts');
  try {
    return await openTemporal({ connection: options, namespace, taskQueue });
  } catch (error) {
    const message = `Temporal can't be reached at ${address} (${messageOf(error)}).`;
    throw new CommandError(EXIT.unexpected, message, {
      hint: 'Is it running? `npm run up` starts everything here; TEMPORAL_ADDRESS names another server.',
      cause: error,
    });
  }
}
