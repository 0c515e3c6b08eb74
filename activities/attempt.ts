import { Context } from '@temporalio/activity';
import type { RetryLimits } from '../core/backoff.ts';
import { StepFailure } from '../core/failures.ts';
import type { OrderId } from '../core/identity.ts';
import type { Policy } from '../core/policy.ts';
import type { Call } from '../partners/contract.ts';
import { toActivityFailure } from './failures.ts';

/** The part of the policy an activity needs: its input is kept in the run's history, so no more than that. */
export type Limits = RetryLimits & Pick<Policy, 'partnerTimeoutMs' | 'settleMs' | 'heartbeatMs'>;

/** What every activity is told besides its own input. */
export interface AttemptCall {
  limits: Limits;
}

/** The same of an order's step. */
export interface StepCall extends AttemptCall {
  id: OrderId;
  revision: number;
  /** True when an earlier request under the same effect key may still be on its way to the partner. */
  again: boolean;
}

/** How one attempt talks to a partner. */
export interface Attempt {
  /**
   * For requests that act: call it when the request is made, not before. Throws when this process was
   * silent for so long that another attempt may have begun. The requests are never aborted in mid-air,
   * also not by a cancellation: an aborted effect is an unknown one, and waiting for the answer takes
   * `partnerTimeoutMs` at most.
   */
  effect: () => Call;
  /** For requests that only ask: a cancellation ends them at once. */
  read: Call;
  /** Waits, when an earlier request may be on its way, until it must have landed; asking sooner misses it. */
  settle: () => Promise<void>;
}

/**
 * Runs one attempt of an activity. Heartbeats while it works, so that a lost worker is noticed within
 * `heartbeatMs` and a cancellation arrives. Throws an ApplicationFailure whose type is the failure
 * class, or the CancelledFailure of a cancellation.
 */
export async function attempt<T>(
  call: AttemptCall & Partial<Pick<StepCall, 'again'>>,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { limits } = call;
  let heardAt = performance.now();
  let silent = false;
  // A process that was stopped wakes with an old answer in its hands. Half the time, since the server
  // may not have been told of the last beat: beats are sent on at most so often.
  const isSilent = () => silent || performance.now() - heardAt > limits.heartbeatMs / 2;
  const beat = () => {
    silent = isSilent();
    heardAt = performance.now();
    context.heartbeat();
  };
  beat();
  // Four beats in the time after which a silent worker counts as lost: one may be late.
  const timer = setInterval(beat, Math.max(1, limits.heartbeatMs / 4));
  try {
    return await work({
      effect: () => {
        if (isSilent())
          throw new StepFailure('busy', 'silent', 'The worker was silent for too long.');
        return { timeoutMs: limits.partnerTimeoutMs };
      },
      read: { timeoutMs: limits.partnerTimeoutMs, signal: context.cancellationSignal },
      settle: async () => {
        if (call.again || context.info.attempt > 1) await context.sleep(limits.settleMs);
      },
    });
  } catch (error) {
    throw toActivityFailure(error, { attempt: context.info.attempt, limits });
  } finally {
    clearInterval(timer);
  }
}
