import { ApplicationFailure } from '@temporalio/activity';
import { nextDelay } from '../core/backoff.ts';
import { StepFailure } from '../core/failures.ts';
import type { Limits } from './attempt.ts';

/**
 * What the server is told about a failed attempt: the class as its type, whether another attempt makes
 * sense, and when. Anything but a StepFailure (a cancellation, a bug) is passed on as it is: a bug is
 * retried within the activity's own finite policy and ends in front of an operator.
 */
export function toActivityFailure(
  error: unknown,
  { attempt, limits }: { attempt: number; limits: Limits },
): unknown {
  if (!(error instanceof StepFailure)) return error;
  // Spread over time by chance, so that the runs an outage stopped don't come back all at once.
  const delay = nextDelay(error.failureClass, attempt, limits, Math.random, error.retryAfterMs);
  return ApplicationFailure.create({
    message: error.message,
    type: error.failureClass,
    details: [
      {
        code: error.code,
        attempt,
        // For a workflow that decides itself when to try again.
        ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
      },
    ],
    nonRetryable: delay === 'give-up',
    cause: error,
    // Zero would mean "not given" to the server.
    ...(delay === 'give-up' ? {} : { nextRetryDelay: Math.max(1, delay) }),
  });
}
