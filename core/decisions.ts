import type { ConflictKind } from './history.ts';
import { toMinor } from './order/money.ts';
import type { Money } from './order/money.ts';
import type { Policy } from './policy.ts';
import type { AgentOutcome } from './steps.ts';

// Pure: the same decisions in a workflow and in the queue. Time comes in as an argument (ms since 1970).

/** True when a person must approve: above the limit of its currency, or in a currency that has none. */
export function approvalNeeded(payable: Money, policy: Pick<Policy, 'approvalLimits'>): boolean {
  const limit = Object.hasOwn(policy.approvalLimits, payable.currency)
    ? policy.approvalLimits[payable.currency]
    : undefined;
  return limit === undefined || payable.minor > toMinor(limit, payable.currency);
}

export type CreditVerdict = { kind: 'granted' } | { kind: 'refused'; reason: string };

export function creditVerdict(score: number, policy: Policy): CreditVerdict {
  // "not at least" instead of "below": NaN is no credit.
  if (score >= policy.minCreditScore) return { kind: 'granted' };
  return { kind: 'refused', reason: `credit score ${score} is below ${policy.minCreditScore}` };
}

export type ScreeningVerdict = { kind: 'clear' } | { kind: 'refused'; reason: string };

/** `listed`: the sanctions list that names the buyer, null when none does. */
export function screeningVerdict(listed: string | null): ScreeningVerdict {
  if (listed === null) return { kind: 'clear' };
  return { kind: 'refused', reason: `the buyer is on the sanctions list ${listed}` };
}

/** Nothing is due when prepayments cover the order: the charge is skipped, no partner takes zero. */
export function chargeNeeded(payable: Money): boolean {
  return payable.minor > 0;
}

/** A gate that a run has opened. */
export interface OpenedGate {
  gate: string;
  gateVersion: number;
  deadlineAt: number;
  state:
    | { kind: 'open' }
    /** `decision`: what was said, a yes, a no, or the words of an answer. */
    | { kind: 'answered'; decision: string; by: string }
    | { kind: 'expired' }
    /** The run was cancelled while the question was open. */
    | { kind: 'withdrawn' };
}

/** A run as an answer finds it. */
export interface GateState {
  /** Gates this run may still open, such as `approval` before the step that asks. */
  upcoming: readonly string[];
  opened: readonly OpenedGate[];
  /** How the run ended, once it has. */
  outcome?: AgentOutcome;
}

/** An answer to a gate, as far as it is judged. */
export interface GateAnswer {
  gate: string;
  gateVersion: number;
  decision: string;
  by: string;
}

export type Judgement =
  /** `repeated`: this very answer was taken before (a retry after "not confirmed"); record nothing. */
  | { kind: 'accepted'; repeated: boolean }
  | { kind: 'conflict'; conflict: ConflictKind; reason: string };

/**
 * Whether an answer given at `now` counts. `early`: its gate is yet to open; `late`: after the
 * deadline, or after the question was taken back; `second`: answered already, by another person or
 * otherwise; `wrong-gate`: no such gate, or another version of it; `ended`: the run is over.
 */
export function judgeDecision(state: GateState, answer: GateAnswer, now: number): Judgement {
  const named = `${answer.gate} v${answer.gateVersion}`;
  if (state.outcome !== undefined) {
    // Told apart because a client that only knows how a run ended must say the same as its worker.
    return state.outcome === 'expired'
      ? conflict('late', `${named} expired, and the run ended`)
      : conflict('ended', `the run has ended (${state.outcome})`);
  }
  const ofThatName = state.opened.filter(({ gate }) => gate === answer.gate);
  const opened = ofThatName.find(({ gateVersion }) => gateVersion === answer.gateVersion);
  if (opened) return judgeOpened(opened, answer, now);
  if (ofThatName.length === 0 && state.upcoming.includes(answer.gate)) {
    return conflict('early', `${named} is not open yet`);
  }
  const open = state.opened.find((gate) => gate.state.kind === 'open');
  const instead = open ? `the open one is ${open.gate} v${open.gateVersion}` : 'none is open';
  return conflict('wrong-gate', `this run has no ${named}; ${instead}`);
}

function judgeOpened(
  { state, deadlineAt }: OpenedGate,
  answer: GateAnswer,
  now: number,
): Judgement {
  const named = `${answer.gate} v${answer.gateVersion}`;
  switch (state.kind) {
    case 'answered':
      return state.decision === answer.decision && state.by === answer.by
        ? { kind: 'accepted', repeated: true }
        : conflict('second', `${named} was answered by ${state.by}: ${state.decision}`);
    case 'expired':
      return conflict('late', `${named} has expired`);
    case 'withdrawn':
      return conflict('late', `${named} was taken back`);
    case 'open':
      // The deadline counts, not whether its timer has fired yet.
      return now >= deadlineAt
        ? conflict('late', `${named} was open until ${new Date(deadlineAt).toISOString()}`)
        : { kind: 'accepted', repeated: false };
    default:
      return state satisfies never;
  }
}

/** How long a gate waits, from when it was opened. */
export interface GateWaits {
  reminderMs: number;
  escalationMs: number;
  deadlineMs: number;
}

export function approvalWaits(policy: Policy): GateWaits {
  return {
    reminderMs: policy.approvalReminderMs,
    escalationMs: policy.approvalEscalationMs,
    deadlineMs: policy.approvalDeadlineMs,
  };
}

export interface GateEvent {
  kind: 'remind' | 'escalate' | 'expire';
  at: number;
}

/**
 * What is due next for a gate that nobody has answered, and when (which may have passed). A reminder
 * or an escalation that would come at the deadline or after it is left out.
 */
export function nextGateEvent(
  openedAt: number,
  waits: GateWaits,
  done: { reminded?: boolean; escalated?: boolean } = {},
): GateEvent {
  const expire: GateEvent = { kind: 'expire', at: openedAt + waits.deadlineMs };
  const events: GateEvent[] = [expire];
  if (!done.escalated) events.push({ kind: 'escalate', at: openedAt + waits.escalationMs });
  if (!done.reminded) events.push({ kind: 'remind', at: openedAt + waits.reminderMs });
  // Ties go to the later in the list, the milder one, except that nothing precedes the end at its own time.
  return events.reduce((next, event) =>
    event.at < expire.at && event.at <= next.at ? event : next,
  );
}

function conflict(kind: ConflictKind, reason: string): Judgement {
  return { kind: 'conflict', conflict: kind, reason };
}
