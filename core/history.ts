import type { Outcome, Step, UndoableStep } from './steps.ts';

/**
 * What happened to a run, in business words, the same on every implementation so that they can be
 * compared. `at` is ISO 8601 in UTC.
 */
export type HistoryEvent =
  | { type: 'started'; revision: number }
  | { type: 'step-done'; step: Step; detail?: string }
  | { type: 'waiting'; step: Step; gate?: string; until?: string }
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
  | { type: 'stuck'; step: Step; reason: string }
  | { type: 'replayed'; step: Step; by: string; why: string }
  | { type: 'fixed'; step: Step; by: string; why: string; before: string; after: string }
  | { type: 'discarded'; step: Step; by: string; why: string }
  /** What came from `toEvent` of the engine's history on was dropped, and is done again. */
  | { type: 'reset'; by: string; why: string; toEvent: number }
  | { type: 'ended'; outcome: Outcome; reason?: string };

export type HistoryEntry = { at: string } & HistoryEvent;

/** Why an answer to a pause was not taken. Each leaves an entry in the history: an answer is never lost in silence. */
export const CONFLICT_KINDS = ['early', 'late', 'second', 'wrong-gate', 'ended'] as const;
export type ConflictKind = (typeof CONFLICT_KINDS)[number];
