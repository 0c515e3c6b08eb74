import type { ClientBase } from 'pg';
import type { WaitingFor } from '../../core/contract.ts';
import { nextGateEvent } from '../../core/decisions.ts';
import type { GateEvent, GateWaits } from '../../core/decisions.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { AnyStep } from '../../core/steps.ts';
import type { Write } from '../runs/hold.ts';
import type { Run } from '../runs/run.ts';
import type { StepResult } from '../steps/step.ts';
import { setTimer } from '../timers/set-timer.ts';
import type { Db } from '../transport/contract.ts';
import type { GateRow } from './read-gates.ts';

/** A question as a step asks it. */
export interface Asking {
  gate: string;
  step: AnyStep;
  /** Who is asked, and who when they say nothing. */
  who: string;
  escalateTo: string;
  waits: GateWaits;
}

/** Opens the gate and parks the run: no worker, no lease, only rows. */
export function openGate(
  run: Run,
  asking: Asking,
  gateVersion: number,
  openedAt: Date,
): Extract<StepResult, { kind: 'park' }> {
  const { gate, step, who, waits } = asking;
  const until = new Date(openedAt.getTime() + waits.deadlineMs);
  return {
    kind: 'park',
    parkedFor: 'gate',
    waitingFor: waitingFor(gate, { gateVersion, openedAt, until }, who),
    history: [{ type: 'waiting', step, gate, until: until.toISOString() }],
    async write(tx) {
      await tx.query(
        `INSERT INTO queue.gate (run_id, gate, gate_version, revision, state, who, opened_at, until)
         VALUES ($1, $2, $3, $4, 'open', $5, $6, $7)`,
        [run.id, gate, gateVersion, run.revision, who, openedAt, until],
      );
      for (const { kind, at } of eventsOf(openedAt, waits)) {
        await setTimer(tx, run.id, timerName(gate, gateVersion, kind), new Date(at));
      }
    },
  };
}

/** Everything that becomes due while nobody answers, the deadline last. */
function eventsOf(openedAt: Date, waits: GateWaits): GateEvent[] {
  const events: GateEvent[] = [];
  const done = { reminded: false, escalated: false };
  for (;;) {
    const event = nextGateEvent(openedAt.getTime(), waits, done);
    events.push(event);
    if (event.kind === 'expire') return events;
    if (event.kind === 'remind') done.reminded = true;
    else done.escalated = true;
  }
}

/** An open gate as it is found: the run goes on waiting, unless the time is over. */
export interface Looked {
  expired: boolean;
  history: HistoryEvent[];
  write: Write;
  /** Parks again. */
  wait: Extract<StepResult, { kind: 'park' }>;
}

/** What has become due on an open gate, by the timers that have fired: each thing once, in its order. */
export async function lookAtOpenGate(
  db: Db,
  run: Run,
  asking: Asking,
  row: GateRow,
): Promise<Looked> {
  const { gate, escalateTo } = asking;
  const fired = await firedTimers(db, run.id);
  const due = (kind: GateEvent['kind']) => fired.has(timerName(gate, row.gateVersion, kind));
  const history: HistoryEvent[] = [];
  const remind = due('remind') && !row.reminded;
  const escalate = due('escalate') && !row.escalated;
  if (remind) history.push({ type: 'reminded', gate, who: asking.who });
  if (escalate) history.push({ type: 'escalated', gate, who: escalateTo });
  const expired = due('expire');
  const who = row.escalated || escalate ? escalateTo : asking.who;
  const write = async (tx: ClientBase) => {
    await tx.query(
      `UPDATE queue.gate SET who = $4,
         reminded_at = CASE WHEN $5 THEN statement_timestamp() ELSE reminded_at END,
         escalated_at = CASE WHEN $6 THEN statement_timestamp() ELSE escalated_at END,
         state = CASE WHEN $7 THEN 'expired' ELSE state END
       WHERE run_id = $1 AND gate = $2 AND gate_version = $3 AND state = 'open'`,
      [run.id, gate, row.gateVersion, who, remind, escalate, expired],
    );
  };
  const waiting = waitingFor(gate, row, who);
  const wait = { kind: 'park', parkedFor: 'gate', waitingFor: waiting, history, write } as const;
  return { expired, history, write, wait };
}

async function firedTimers(db: Db, runId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    'SELECT name FROM queue.timer WHERE run_id = $1 AND fired_at IS NOT NULL',
    [runId],
  );
  return new Set(rows.map(({ name }) => name));
}

function waitingFor(
  gate: string,
  { gateVersion, openedAt, until }: Pick<GateRow, 'gateVersion' | 'openedAt' | 'until'>,
  who: string,
): WaitingFor {
  const since = openedAt.toISOString();
  return { kind: 'person', gate, gateVersion, who, since, until: until.toISOString() };
}

function timerName(gate: string, gateVersion: number, kind: GateEvent['kind']): string {
  return `${gate}/v${gateVersion}/${kind}`;
}
