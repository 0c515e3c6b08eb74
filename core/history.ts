import type { AgentOutcome, AnyStep, Outcome, Step, UndoableStep } from './steps.ts';

/**
 * What happened to a run, in business words, the same on every implementation so that they can be
 * compared. `at` is ISO 8601 in UTC.
 */
export type HistoryEvent =
  | { type: 'started'; revision: number }
  | { type: 'step-done'; step: Step; detail?: string }
  | { type: 'waiting'; step: AnyStep; gate?: string; until?: string }
  | { type: 'reminded'; gate: string; who: string }
  | { type: 'escalated'; gate: string; who: string }
  | {
      type: 'decided';
      gate: string;
      gateVersion: number;
      decision: string;
      by: string;
      note?: string;
    }
  | {
      type: 'decision-conflict';
      gate: string;
      gateVersion: number;
      decision: string;
      by: string;
      conflict: ConflictKind;
    }
  | { type: 'cancel-requested'; by: string; reason: string }
  | { type: 'cancel-too-late'; by: string; reason: string }
  | { type: 'undo-done'; step: UndoableStep }
  | { type: 'undo-failed'; step: UndoableStep; reason: string }
  | { type: 'stuck'; step: AnyStep; reason: string }
  | { type: 'replayed'; step: AnyStep; by: string; why: string }
  | { type: 'fixed'; step: Step; by: string; why: string; before: string; after: string }
  | { type: 'discarded'; step: AnyStep; by: string; why: string }
  /** What came from `toEvent` of the engine's history on was dropped, and is done again. */
  | { type: 'reset'; by: string; why: string; toEvent: number }
  | AgentHistoryEvent
  | { type: 'ended'; outcome: AgentOutcome; reason?: string };

/** What happens to a run of the buying agent besides. */
export type AgentHistoryEvent =
  /** The model has answered: what it wants to use, what the answer cost. */
  | { type: 'thought'; turn: number; tools: readonly string[]; tokens: number; nanoEur: number }
  /** Tools that only ask have been used, so many of them in vain. */
  | { type: 'used'; turn: number; tools: readonly string[]; failed: number }
  /** So many calls of the turn to come have been lost by now; each is charged at the most it can have cost. */
  | { type: 'calls-lost'; turn: number; lostCalls: number }
  | { type: 'order-started'; orderRef: string }
  | { type: 'order-ended'; orderRef: string; outcome: Outcome };

export type HistoryEntry = { at: string } & HistoryEvent;

/** Why an answer to a pause was not taken. Each leaves an entry in the history: an answer is never lost in silence. */
export const CONFLICT_KINDS = ['early', 'late', 'second', 'wrong-gate', 'ended'] as const;
export type ConflictKind = (typeof CONFLICT_KINDS)[number];
