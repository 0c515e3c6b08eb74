import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Decision } from '../../../core/contract.ts';
import {
  approvalNeeded,
  chargeNeeded,
  creditVerdict,
  judgeDecision,
  nextGateEvent,
} from '../../../core/decisions.ts';
import type { GateState, OpenedGate } from '../../../core/decisions.ts';
import { defaultPolicy } from '../../../core/policy.ts';

const deadlineAt = 5_000;
const approve: Decision = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'anna' };

function gate(state: OpenedGate['state'], gateVersion = 1, name = 'approval'): OpenedGate {
  return { gate: name, gateVersion, deadlineAt, state };
}

/** The conflict's kind, or `accepted`, or `repeated`. */
function verdict(state: Partial<GateState>, answer: Decision, now = 1_000): string {
  const judgement = judgeDecision({ upcoming: [], opened: [], ...state }, answer, now);
  if (judgement.kind === 'conflict') return judgement.conflict;
  return judgement.repeated ? 'repeated' : 'accepted';
}

test('an order above the limit of its currency needs a person, at the limit it does not', () => {
  const policy = { ...defaultPolicy, approvalLimits: { EUR: '10000', JPY: '1600000' } };
  assert.equal(approvalNeeded({ currency: 'EUR', minor: 1_000_000 }, policy), false);
  assert.equal(approvalNeeded({ currency: 'EUR', minor: 1_000_001 }, policy), true);
  assert.equal(approvalNeeded({ currency: 'JPY', minor: 1_600_000 }, policy), false);
});

test('an order in a currency without a limit always needs a person', () => {
  assert.equal(approvalNeeded({ currency: 'CHF', minor: 1 }, defaultPolicy), true);
});

test('credit is granted from the minimum score on', () => {
  assert.equal(creditVerdict(400, defaultPolicy).kind, 'granted');
  const refused = creditVerdict(399, defaultPolicy);
  assert.deepEqual(refused, { kind: 'refused', reason: 'credit score 399 is below 400' });
  assert.equal(creditVerdict(NaN, defaultPolicy).kind, 'refused');
});

test('an order that comes to zero is not charged', () => {
  assert.equal(chargeNeeded({ currency: 'EUR', minor: 0 }), false);
  assert.equal(chargeNeeded({ currency: 'EUR', minor: 1 }), true);
});

test('an answer to the open gate is accepted', () => {
  assert.equal(verdict({ opened: [gate({ kind: 'open' })] }, approve), 'accepted');
});

test('an answer at the deadline is late, also before the timer has fired', () => {
  const opened = [gate({ kind: 'open' })];
  assert.equal(verdict({ opened }, approve, deadlineAt - 1), 'accepted');
  assert.equal(verdict({ opened }, approve, deadlineAt), 'late');
});

test('an answer to an expired gate is late, also when the run has ended by that', () => {
  assert.equal(verdict({ opened: [gate({ kind: 'expired' })] }, approve), 'late');
  assert.equal(
    verdict({ opened: [gate({ kind: 'expired' })], outcome: 'expired' }, approve),
    'late',
  );
  assert.equal(verdict({ outcome: 'expired' }, approve), 'late');
});

test('an answer to a question that a cancellation took back is late', () => {
  assert.equal(verdict({ opened: [gate({ kind: 'withdrawn' })] }, approve), 'late');
});

test('an answer to a gate that is yet to open is early', () => {
  assert.equal(verdict({ upcoming: ['approval'] }, approve), 'early');
});

test('of two approvers at once the second is told who was first', () => {
  const answered = gate({ kind: 'answered', decision: 'approve', by: 'ben' });
  const judgement = judgeDecision({ upcoming: [], opened: [answered] }, approve, 1_000);
  assert.deepEqual(judgement, {
    kind: 'conflict',
    conflict: 'second',
    reason: 'approval v1 was answered by ben: approve',
  });
});

test('somebody who changes their mind is second to themselves', () => {
  const answered = gate({ kind: 'answered', decision: 'reject', by: 'anna' });
  assert.equal(verdict({ opened: [answered] }, approve), 'second');
});

test('the same answer again, as after "not confirmed", is accepted and not recorded twice', () => {
  const answered = gate({ kind: 'answered', decision: 'approve', by: 'anna' });
  assert.equal(verdict({ opened: [answered] }, approve, deadlineAt + 1), 'repeated');
});

test('an answer to the first gate, replayed when the second is open, does not touch the second', () => {
  const first = gate({ kind: 'answered', decision: 'approve', by: 'ben' });
  const opened = [first, gate({ kind: 'open' }, 2)];
  assert.equal(verdict({ opened }, approve), 'second');
  assert.equal(verdict({ opened }, { ...approve, gateVersion: 3 }), 'wrong-gate');
});

test('an answer to another name or version is for the wrong gate, and is told the open one', () => {
  const opened = [gate({ kind: 'open' })];
  assert.equal(verdict({ opened }, { ...approve, gate: 'budget' }), 'wrong-gate');
  const judgement = judgeDecision({ upcoming: [], opened }, { ...approve, gateVersion: 2 }, 0);
  assert.match(judgement.kind === 'conflict' ? judgement.reason : '', /open one is approval v1/);
  assert.equal(verdict({}, approve), 'wrong-gate');
});

test('an answer to a run that ended in another way is told so', () => {
  for (const outcome of ['completed', 'rejected', 'cancelled', 'refused', 'discarded'] as const) {
    assert.equal(verdict({ outcome, opened: [gate({ kind: 'withdrawn' })] }, approve), 'ended');
  }
});

test('a gate reminds, then escalates, then expires', () => {
  const waits = { reminderMs: 10, escalationMs: 20, deadlineMs: 50 };
  assert.deepEqual(nextGateEvent(1_000, waits), { kind: 'remind', at: 1_010 });
  const reminded = { reminded: true };
  assert.deepEqual(nextGateEvent(1_000, waits, reminded), { kind: 'escalate', at: 1_020 });
  const both = { reminded: true, escalated: true };
  assert.deepEqual(nextGateEvent(1_000, waits, both), { kind: 'expire', at: 1_050 });
});

test('nothing is sent at or after the deadline', () => {
  const waits = { reminderMs: 50, escalationMs: 60, deadlineMs: 50 };
  assert.deepEqual(nextGateEvent(0, waits), { kind: 'expire', at: 50 });
});

test('law: a gate’s events come in the order of their times, each once, and end with its expiry', () => {
  const wait = fc.nat(1_000);
  fc.assert(
    fc.property(fc.nat(), wait, wait, wait, (openedAt, remind, escalate, deadline) => {
      const waits = { reminderMs: remind, escalationMs: escalate, deadlineMs: deadline };
      const done = { reminded: false, escalated: false };
      const seen = [nextGateEvent(openedAt, waits, done)];
      while (seen.at(-1)?.kind !== 'expire') {
        if (seen.at(-1)?.kind === 'remind') done.reminded = true;
        else done.escalated = true;
        seen.push(nextGateEvent(openedAt, waits, done));
      }
      assert.ok(seen.length <= 3);
      assert.deepEqual(
        seen.map(({ at }) => at),
        seen.map(({ at }) => at).sort((a, b) => a - b),
      );
      assert.equal(seen.at(-1)?.at, openedAt + deadline);
    }),
  );
});
