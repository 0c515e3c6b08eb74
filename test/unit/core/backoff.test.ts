import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextDelay } from '../../../core/backoff.ts';
import { defaultPolicy } from '../../../core/policy.ts';

const policy = { ...defaultPolicy, retryInitialMs: 100, retryMaxMs: 1_000, maxAttempts: 5 };
const most = () => 0.999999;

test('what no further attempt can cure is given up at once', () => {
  assert.equal(nextDelay('refused', 1, policy, most), 'give-up');
  assert.equal(nextDelay('never', 1, policy, most), 'give-up');
});

test('a row that is missing for now has a short delay and a budget of its own', () => {
  assert.equal(nextDelay('missing', 1, policy, most), policy.missingDelayMs);
  assert.equal(
    nextDelay('missing', policy.maxMissingAttempts - 1, policy, most),
    policy.missingDelayMs,
  );
  assert.equal(nextDelay('missing', policy.maxMissingAttempts, policy, most), 'give-up');
});

test('the back-off doubles up to its maximum, with full jitter below', () => {
  const ceilings = [1, 2, 3, 4].map((attempt) => nextDelay('busy', attempt, policy, most));
  assert.deepEqual(ceilings, [99, 199, 399, 799]);
  assert.equal(
    nextDelay('busy', 4, policy, () => 0),
    0,
  );
  assert.equal(nextDelay('unknown', 50, { ...policy, maxAttempts: 99 }, most), 999);
});

test('the last attempt of the budget is the last', () => {
  assert.notEqual(nextDelay('busy', 4, policy, most), 'give-up');
  assert.equal(nextDelay('busy', 5, policy, most), 'give-up');
  assert.equal(nextDelay('unknown', 5, policy, most), 'give-up');
});

test('Retry-After is honoured beyond the maximum of the back-off, and never asked earlier', () => {
  assert.equal(
    nextDelay('busy', 1, policy, () => 0, 3_600_000),
    3_600_000,
  );
  assert.equal(nextDelay('busy', 1, policy, most, 5_000), 5_099);
});

test('a partner that asks for more than the policy allows is a case for an operator', () => {
  assert.equal(
    nextDelay('busy', 1, policy, most, policy.retryAfterMaxMs),
    policy.retryAfterMaxMs + 99,
  );
  assert.equal(nextDelay('busy', 1, policy, most, policy.retryAfterMaxMs + 1), 'give-up');
  assert.equal(nextDelay('busy', 1, policy, most, Infinity), 'give-up');
});

test('a Retry-After that makes no sense is as none', () => {
  assert.equal(
    nextDelay('busy', 1, policy, () => 0, NaN),
    0,
  );
  assert.equal(
    nextDelay('busy', 1, policy, () => 0, -5),
    0,
  );
});

test('law: a delay is a whole number of ms within its bounds, however many attempts', () => {
  const attempts = fc.integer({ min: 1, max: 1_000_000 });
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const asked = fc.option(fc.double({ min: 0, max: policy.retryAfterMaxMs, noNaN: true }), {
    nil: undefined,
  });
  const patient = { ...policy, maxAttempts: 2_000_000 };
  fc.assert(
    fc.property(attempts, random, asked, (attempt, number, retryAfterMs) => {
      const delay = nextDelay('busy', attempt, patient, () => number, retryAfterMs);
      assert.ok(Number.isSafeInteger(delay));
      assert.ok(delay !== 'give-up' && delay >= (retryAfterMs ?? 0));
      assert.ok(delay <= Math.ceil(retryAfterMs ?? 0) + patient.retryMaxMs);
    }),
  );
});
