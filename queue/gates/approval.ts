import type { Db } from '../transport/contract.ts';
import type { ClientBase } from 'pg';
import { approvalWaits, nextGateEvent } from '../../core/decisions.ts';
import type { GateEvent } from '../../core/decisions.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { Policy } from '../../core/policy.ts';
import type { WaitingFor } from '../../core/contract.ts';
import type { Run } from '../runs/run.ts';
import type { StepResult } from '../steps/step.ts';
import { setTimer } from '../timers/set-timer.ts';
import type { GateRow } from './read-gates.ts';

export const APPROVAL = 'approval';

/** Opens the gate and parks the run: no worker, no lease, only rows. */
export function openGate(
  run: Run,
  policy: Policy,
  gateVersion: number,
  openedAt: Date,
): StepResult {
  const until = new Date(openedAt.getTime() + policy.approvalDeadlineMs);
  const gate = { gateVersion, openedAt, until };
  return {
    kind: 'park',
    parkedFor: 'gate',
    waitingFor: waitingFor(gate, policy.approver),
    history: [{ type: 'waiting', step: 'approve', gate: APPROVAL, until: until.toISOString() }],
    async write(tx) {
      await tx.query(
        `INSERT INTO queue.gate (run_id, gate, gate_version, revision, state, who, opened_at, until)
         VALUES ($1, $2, $3, $4, 'open', $5, $6, $7)`,
        [run.id, APPROVAL, gateVersion, run.revision, policy.approver, openedAt, until],
      );
      for (const { kind, at } of eventsOf(openedAt, policy)) {
        await setTimer(tx, run.id, timerName(gateVersion, kind), new Date(at));
      }
    },
  };
}

/** Everything that becomes due while nobody answers, the deadline last. */
function eventsOf(openedAt: Date, policy: Policy): GateEvent[] {
  const events: GateEvent[] = [];
  const done = { reminded: false, escalated: false };
  for (;;) {
    const event = nextGateEvent(openedAt.getTime(), approvalWaits(policy), done);
    events.push(event);
    if (event.kind === 'expire') return events;
    if (event.kind === 'remind') done.reminded = true;
    else done.escalated = true;
  }
}

/** What has become due on an open gate, by the timers that have fired: each thing once, in its order. */
export async function lookAtOpenGate(
  db: Db,
  run: Run,
  policy: Policy,
  gate: GateRow,
): Promise<StepResult> {
  const fired = await firedTimers(db, run.id);
  const due = (kind: GateEvent['kind']) => fired.has(timerName(gate.gateVersion, kind));
  const history: HistoryEvent[] = [];
  const remind = due('remind') && !gate.reminded;
  const escalate = due('escalate') && !gate.escalated;
  if (remind) history.push({ type: 'reminded', gate: APPROVAL, who: policy.approver });
  if (escalate) history.push({ type: 'escalated', gate: APPROVAL, who: policy.escalateTo });
  const expired = due('expire');
  const who = gate.escalated || escalate ? policy.escalateTo : policy.approver;
  const write = async (tx: ClientBase) => {
    await tx.query(
      `UPDATE queue.gate SET who = $4,
         reminded_at = CASE WHEN $5 THEN statement_timestamp() ELSE reminded_at END,
         escalated_at = CASE WHEN $6 THEN statement_timestamp() ELSE escalated_at END,
         state = CASE WHEN $7 THEN 'expired' ELSE state END
       WHERE run_id = $1 AND gate = $2 AND gate_version = $3 AND state = 'open'`,
      [run.id, APPROVAL, gate.gateVersion, who, remind, escalate, expired],
    );
  };
  return expired
    ? { kind: 'end', outcome: 'expired', reason: 'nobody answered in time', history, write }
    : { kind: 'park', parkedFor: 'gate', waitingFor: waitingFor(gate, who), history, write };
}

async function firedTimers(db: Db, runId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    'SELECT name FROM queue.timer WHERE run_id = $1 AND fired_at IS NOT NULL',
    [runId],
  );
  return new Set(rows.map(({ name }) => name));
}

function waitingFor(
  gate: Pick<GateRow, 'gateVersion' | 'openedAt' | 'until'>,
  who: string,
): WaitingFor {
  return {
    kind: 'person',
    gate: APPROVAL,
    gateVersion: gate.gateVersion,
    who,
    since: gate.openedAt.toISOString(),
    until: gate.until.toISOString(),
  };
}

export function timerName(gateVersion: number, kind: GateEvent['kind']): string {
  return `${APPROVAL}/v${gateVersion}/${kind}`;
}
