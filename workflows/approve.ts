import { condition } from '@temporalio/workflow';
import type { DecideResult, Decision } from '../core/contract.ts';
import { approvalNeeded, approvalWaits, judgeDecision, nextGateEvent } from '../core/decisions.ts';
import type { GateState, OpenedGate } from '../core/decisions.ts';
import type { HistoryEvent } from '../core/history.ts';
import { formatMoney } from '../core/order/money.ts';
import type { Money } from '../core/order/money.ts';
import { isBefore } from '../core/steps.ts';
import { move, note, now } from './position.ts';
import { Stopped } from './run.ts';
import type { Run } from './run.ts';

const GATE = 'approval';

/**
 * Waits for a person where the policy wants one: reminds once, asks higher up once, gives up at the
 * deadline. Throws `Stopped` when the answer is no or does not come.
 */
export async function approval(run: Run, payable: Money): Promise<string> {
  const { policy } = run.input;
  if (!approvalNeeded(payable, policy)) return 'within the limit';
  const gate = openGate(run);
  try {
    await answered(run, gate);
  } finally {
    // Left by a cancellation: whoever answers now is late.
    if (gate.state.kind === 'open') gate.state = { kind: 'withdrawn' };
  }
  if (gate.state.kind !== 'answered') {
    throw new Stopped({ kind: 'end', outcome: 'expired', reason: 'nobody answered in time' });
  }
  const { decision, by } = gate.state;
  if (decision === 'approve') return `${formatMoney(payable)} approved by ${by}`;
  throw new Stopped({ kind: 'end', outcome: 'rejected', reason: `rejected by ${by}` });
}

function openGate(run: Run): OpenedGate {
  // How often this run has asked: a fix asks anew, and an answer to the old question does not count.
  const gateVersion = run.gates.length + 1;
  const deadlineAt = Date.now() + run.input.policy.approvalDeadlineMs;
  const gate: OpenedGate = { gate: GATE, gateVersion, deadlineAt, state: { kind: 'open' } };
  run.gates.push(gate);
  return gate;
}

/** Returns when the gate is answered or expired. Every wait is a timer of the engine, so days cost nothing. */
async function answered(run: Run, gate: OpenedGate): Promise<void> {
  const { policy } = run.input;
  const openedAt = Date.now();
  const done = { reminded: false, escalated: false };
  const { gateVersion } = gate;
  const since = now();
  const until = new Date(gate.deadlineAt).toISOString();
  const waitFor = (who: string, event: HistoryEvent) =>
    move(
      run,
      {
        status: 'waiting',
        waitingFor: { kind: 'person', gate: GATE, gateVersion, who, since, until },
      },
      event,
    );
  waitFor(policy.approver, { type: 'waiting', step: 'approve', gate: GATE, until });
  while (gate.state.kind === 'open') {
    const next = nextGateEvent(openedAt, approvalWaits(policy), done);
    const wait = Math.max(1, next.at - Date.now());
    if (await condition(() => gate.state.kind !== 'open', wait)) return;
    switch (next.kind) {
      case 'remind':
        done.reminded = true;
        note(run, { type: 'reminded', gate: GATE, who: policy.approver });
        break;
      case 'escalate':
        done.escalated = true;
        waitFor(policy.escalateTo, { type: 'escalated', gate: GATE, who: policy.escalateTo });
        break;
      case 'expire':
        gate.state = { kind: 'expired' };
        break;
      default:
        next.kind satisfies never;
    }
  }
}

/** Takes an answer, or says why not; either way it is in the history. Called from the update's handler. */
export function takeDecision(run: Run, answer: Decision): DecideResult {
  const { gate, gateVersion, decision, by, note: remark } = answer;
  const judged = judgeDecision(gateState(run), answer, Date.now());
  if (judged.kind === 'conflict') {
    const { conflict, reason } = judged;
    note(run, { type: 'decision-conflict', gate, gateVersion, decision, by, conflict });
    return { kind: 'conflict', conflict, reason };
  }
  if (judged.repeated) return { kind: 'accepted' };
  const opened = run.gates.find((open) => open.gate === gate && open.gateVersion === gateVersion);
  if (!opened) throw new Error(`accepted for a gate that is not there: ${gate} v${gateVersion}`);
  opened.state = { kind: 'answered', decision, by };
  const said = remark === undefined ? {} : { note: remark };
  note(run, { type: 'decided', gate, gateVersion, decision, by, ...said });
  return { kind: 'accepted' };
}

function gateState({ gates, position: { version, step, outcome } }: Run): GateState {
  const mayAsk = !isBefore(version, 'approve', step);
  const ended = outcome === undefined ? {} : { outcome };
  return { upcoming: mayAsk ? [GATE] : [], opened: gates, ...ended };
}
