import type { FailureClass } from './failures.ts';
import type { Policy } from './policy.ts';

/** The part of the policy that decides about the next attempt. */
export type RetryLimits = Pick<
  Policy,
  | 'maxAttempts'
  | 'maxMissingAttempts'
  | 'retryInitialMs'
  | 'retryMaxMs'
  | 'retryAfterMaxMs'
  | 'missingDelayMs'
>;

/** 2 to the power of this times any initial delay is beyond every maximum; more would overflow. */
const MAX_DOUBLINGS = 30;

/**
 * How long to wait (ms) before the next attempt of a step, or `give-up` when there is none.
 * @param attempt how many attempts of this step have ended in this class's budget, this one included
 * @param random a number in [0, 1), as Math.random gives it
 * @param retryAfterMs what the partner asked for. Never asked earlier than that, since it would only
 *   be refused again, at the cost of an attempt; so `retryMaxMs` does not cut it. A partner that asks
 *   for more than `retryAfterMaxMs` has a case for an operator, not for a run that sleeps for weeks.
 */
export function nextDelay(
  failureClass: FailureClass,
  attempt: number,
  policy: RetryLimits,
  random: () => number,
  retryAfterMs?: number,
): number | 'give-up' {
  switch (failureClass) {
    case 'refused':
    case 'never':
      return 'give-up';
    case 'missing':
      return attempt < policy.maxMissingAttempts ? policy.missingDelayMs : 'give-up';
    case 'busy':
    case 'unknown': {
      if (attempt >= policy.maxAttempts) return 'give-up';
      const asked = retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : 0;
      if (asked > policy.retryAfterMaxMs) return 'give-up';
      // On top of what was asked, so that those who were told the same second don't come together.
      return Math.ceil(asked) + jittered(attempt, policy, random);
    }
    default:
      return failureClass satisfies never;
  }
}

/** Full jitter: anywhere from 0 to the ceiling, which spreads a crowd better than a part of it would. */
function jittered(attempt: number, policy: RetryLimits, random: () => number): number {
  const doublings = Math.min(Math.max(attempt - 1, 0), MAX_DOUBLINGS);
  const ceiling = Math.min(policy.retryMaxMs, policy.retryInitialMs * 2 ** doublings);
  return Math.floor(random() * ceiling);
}
