import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure } from '@temporalio/workflow';
import { FAILURE_CLASSES, StepFailure } from '../core/failures.ts';
import type { FailureClass } from '../core/failures.ts';

/** A step that did not succeed, in the words of the business. */
export interface StepProblem {
  failureClass: FailureClass;
  message: string;
  /** True when the partner refused at once: no earlier attempt can have had an effect. */
  firstAttempt: boolean;
  /** How long the partner asked to wait, where a workflow decides itself about the next attempt. */
  retryAfterMs?: number;
}

/**
 * What a step's error means. Throws the error again when it is no failure of a step but a bug: the
 * workflow task then fails and is retried, and the run goes on when the code is mended.
 */
export function problemOf(error: unknown): StepProblem {
  if (error instanceof StepFailure) {
    return { failureClass: error.failureClass, message: error.message, firstAttempt: true };
  }
  if (error instanceof ActivityFailure || error instanceof ChildWorkflowFailure) {
    const cause = innermost(error);
    if (cause instanceof ApplicationFailure) return reported(cause);
    // A timeout: its worker was lost, or hung, in every attempt there was.
    return { failureClass: 'unknown', message: cause.message, firstAttempt: false };
  }
  throw error;
}

function reported({ type, message, details }: ApplicationFailure): StepProblem {
  const failureClass = FAILURE_CLASSES.find((known) => known === type) ?? 'unknown';
  const [detail] = details ?? [];
  const { attempt, retryAfterMs } = isDetail(detail) ? detail : {};
  const asked = typeof retryAfterMs === 'number' ? { retryAfterMs } : {};
  return { failureClass, message, firstAttempt: attempt === 1, ...asked };
}

function isDetail(detail: unknown): detail is { attempt?: unknown; retryAfterMs?: unknown } {
  return typeof detail === 'object' && detail !== null;
}

/** Children and activities wrap what happened; the StepFailure behind an ApplicationFailure says nothing new. */
function innermost(error: Error): Error {
  if (error instanceof ApplicationFailure || !(error.cause instanceof Error)) return error;
  return innermost(error.cause);
}
