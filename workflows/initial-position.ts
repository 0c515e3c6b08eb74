import type { Position } from '../core/contract.ts';
import { orderIdOf } from '../core/identity.ts';
import type { RunInput } from '../core/order/run-input.ts';
import { CURRENT_VERSION } from '../core/steps.ts';

/**
 * A run's position at `at` (ISO 8601), before its first step. The client puts it into the memo when it
 * starts a run, so that `where` has an answer before any worker has seen it; which version the run takes
 * is for the worker to say that takes it up.
 */
export function initialPosition(
  input: RunInput,
  at: string,
  version: string = CURRENT_VERSION,
): Position {
  return {
    id: orderIdOf(input.order),
    implementation: 'temporal',
    step: 'validate',
    status: 'running',
    attempts: 0,
    since: at,
    startedAt: at,
    revision: input.revision,
    version,
    history: [{ at, type: 'started', revision: input.revision }],
  };
}
