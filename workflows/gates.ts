import { condition } from '@temporalio/workflow';
import type { DecideResult } from '../core/contract.ts';
import { nextGateEvent } from '../core/decisions.ts';
import type { GateAnswer, GateWaits, Judgement, OpenedGate } from '../core/decisions.ts';
import type { HistoryEvent } from '../core/history.ts';
import type { AnyStep } from '../core/steps.ts';
import { move, note, now } from './position.ts';
import type { AnyRun } from './run.ts';

/** A question to a person. */
export interface Asking<S extends AnyStep> {
  step: S;
  gate: string;
  gateVersion: number;
  who: string;
  escalateTo: string;
  waits: GateWaits;
}

/** Opens a gate and waits until it is answered or expired: reminds once, asks higher up once, gives up at the deadline. */
export async function askPerson<S extends AnyStep>(
  run: AnyRun<S>,
  asking: Asking<NoInfer<S>>,
): Promise<OpenedGate> {
  const { gate: name, gateVersion, waits } = asking;
  const deadlineAt = Date.now() + waits.deadlineMs;
  const gate: OpenedGate = { gate: name, gateVersion, deadlineAt, state: { kind: 'open' } };
  run.gates.push(gate);
  try {
    await answered(run, gate, asking);
  } finally {
    // Left by a cancellation: whoever answers now is late.
    if (gate.state.kind === 'open') gate.state = { kind: 'withdrawn' };
  }
  return gate;
}

/** Returns when the gate is answered or expired. Every wait is a timer of the engine, so days cost nothing. */
async function answered<S extends AnyStep>(
  run: AnyRun<S>,
  opened: OpenedGate,
  { step, gate, gateVersion, who, escalateTo, waits }: Asking<S>,
): Promise<void> {
  const openedAt = Date.now();
  const done = { reminded: false, escalated: false };
  const since = now();
  const until = new Date(opened.deadlineAt).toISOString();
  const waitFor = (person: string, event: HistoryEvent) => {
    const waitingFor = { kind: 'person', gate, gateVersion, who: person, since, until } as const;
    move(run, { step, status: 'waiting', waitingFor }, event);
  };
  waitFor(who, { type: 'waiting', step, gate, until });
  while (opened.state.kind === 'open') {
    const next = nextGateEvent(openedAt, waits, done);
    const wait = Math.max(1, next.at - Date.now());
    if (await condition(() => opened.state.kind !== 'open', wait)) return;
    switch (next.kind) {
      case 'remind':
        done.reminded = true;
        note(run, { type: 'reminded', gate, who });
        break;
      case 'escalate':
        done.escalated = true;
        waitFor(escalateTo, { type: 'escalated', gate, who: escalateTo });
        break;
      case 'expire':
        opened.state = { kind: 'expired' };
        break;
      default:
        next.kind satisfies never;
    }
  }
}

/** Takes an answer as it was judged, or says why not; either way it is in the history. Called from an update's handler. */
export function takeAnswer(
  run: AnyRun,
  { gate, gateVersion, decision, by }: GateAnswer,
  judged: Judgement,
  remark?: string,
): DecideResult {
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
