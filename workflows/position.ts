import { setCurrentDetails, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';
import type { WaitingFor } from '../core/contract.ts';
import type { HistoryEvent } from '../core/history.ts';
import type { AgentOutcome, AnyStep, Status } from '../core/steps.ts';
import type { AnyRun } from './run.ts';
import { MEMO_POSITION, positionAttributes } from './search-attributes.ts';
import { inWords } from './words.ts';

/**
 * The memo is written anew with every transition and stays in the engine's history each time, so the
 * run's own history is bounded: the newest entries, and how many older ones were dropped.
 */
const MAX_HISTORY = 200;

type Shown<S extends AnyStep = AnyStep, O extends AgentOutcome = AgentOutcome> = Pick<
  AnyRun<S, O>,
  'position'
>;

/** The engine's clock: the same on every replay. */
export function now(): string {
  return new Date().toISOString();
}

/** Adds to the history without showing it yet; the transition that follows in the same task does. */
export function record(run: Shown, ...events: HistoryEvent[]): void {
  const entries = [...run.position.history, ...events.map((event) => ({ at: now(), ...event }))];
  const cut = Math.max(0, entries.length - MAX_HISTORY);
  const historyCut = (run.position.historyCut ?? 0) + cut;
  run.position = {
    ...run.position,
    history: entries.slice(cut),
    ...(historyCut > 0 ? { historyCut } : {}),
  };
}

/** Adds to the history and shows it; the position stays. */
export function note(run: Shown, ...events: HistoryEvent[]): void {
  record(run, ...events);
  publish(run);
}

export interface Move<S extends AnyStep> {
  step?: S;
  status: Status;
  waitingFor?: WaitingFor;
}

/** The one way in which a run's position changes: step, status and what it waits for, with its history entries. */
export function move<S extends AnyStep, O extends AgentOutcome>(
  run: Shown<S, O>,
  to: Move<NoInfer<S>>,
  ...events: HistoryEvent[]
): void {
  const position = { ...run.position };
  delete position.waitingFor;
  const step = to.step ?? position.step;
  const moved = step !== position.step || to.status !== position.status;
  run.position = {
    ...position,
    step,
    status: to.status,
    since: moved ? now() : position.since,
    ...(to.waitingFor === undefined ? {} : { waitingFor: to.waitingFor }),
  };
  upsertSearchAttributes(positionAttributes(run.position));
  note(run, ...events);
}

/** The last move. */
export function end<S extends AnyStep, O extends AgentOutcome>(
  run: Shown<S, O>,
  outcome: NoInfer<O>,
  reason?: string,
): void {
  const because = reason === undefined ? {} : { reason };
  run.position = { ...run.position, outcome, endedAt: now(), ...because };
  move(run, { status: 'ended' }, { type: 'ended', outcome, ...because });
}

/**
 * Shows the position where it can be read without a worker, in the memo, and as text on Temporal's web
 * page. Search attributes, for lists, change with a move only.
 */
function publish({ position }: Shown): void {
  upsertMemo({ [MEMO_POSITION]: position });
  setCurrentDetails(inWords(position));
}
