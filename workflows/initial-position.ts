import type { Position } from '../core/contract.ts';
import { orderIdOf } from '../core/identity.ts';
import type { RunInput } from '../core/order/run-input.ts';

/** The version of the workflow's code that new runs start with. */
export const CODE_VERSION = '1';

/**
 * A run's position at `at` (ISO 8601), before its first step. The client puts it into the memo when it
 * starts a run, so that `where` has an answer before any worker has seen it.
 */
export function initialPosition(input: RunInput, at: string): Position {
  return {
    id: orderIdOf(input.order),
    implementation: 'temporal',
    step: 'validate',
    status: 'running',
    attempts: 0,
    since: at,
    startedAt: at,
    revision: input.revision,
    version: CODE_VERSION,
    history: [{ at, type: 'started', revision: input.revision }],
  };
}
