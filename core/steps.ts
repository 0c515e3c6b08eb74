/**
 * The purchase order's steps in the order in which a run takes them, by the version of the pipeline that
 * it started with. Version 2 screens the buyer against the sanctions lists, and holds the stock before
 * people decide and no longer after: a rejection releases it.
 */
export const SEQUENCES = {
  1: ['validate', 'price', 'credit', 'approve', 'reserve', 'charge', 'place', 'invoice', 'close'],
  2: [
    'validate',
    'price',
    'credit',
    'screen',
    'reserve',
    'approve',
    'charge',
    'place',
    'invoice',
    'close',
  ],
} as const;

export const CURRENT_VERSION = '2';

/** The ten steps of a run that starts today. */
export const STEPS = SEQUENCES[CURRENT_VERSION];
export type Step = (typeof STEPS)[number];

/** The steps of a run of that version, in its order; of a version that is not known here, today's. */
export function stepsOf(version: string): readonly Step[] {
  return version === '1' ? SEQUENCES[1] : STEPS;
}

/** Whether `step` comes before `other` in a run of that version. */
export function isBefore(version: string, step: Step, other: Step): boolean {
  const steps = stepsOf(version);
  return steps.indexOf(step) < steps.indexOf(other);
}

/** The steps with an effect that can be taken back, and what taking it back is called. */
export const UNDO = { reserve: 'release', charge: 'refund', place: 'cancel' } as const;
export type UndoableStep = keyof typeof UNDO;

/** In the order in which every version takes them. */
export const UNDOABLE = ['reserve', 'charge', 'place'] as const satisfies readonly UndoableStep[];

/** What a run of the buying agent does, again and again, in whatever order it decides. */
export const AGENT_STEPS = ['think', 'use', 'ask', 'order'] as const;
export type AgentStep = (typeof AGENT_STEPS)[number];

/** For tables and histories that hold both. */
export type AnyStep = Step | AgentStep;

/** What a run is doing right now. `retrying` and `waiting` say so because an operator asks first about those. */
export const STATUSES = [
  'running',
  'retrying',
  'waiting',
  'compensating',
  /** Needs a person: a budget is used up, or an undo failed. Never silence. */
  'stuck',
  'ended',
] as const;
export type Status = (typeof STATUSES)[number];

/**
 * How a run ended. Every one of these is a finished run with a reason, never a retry loop.
 * - `refused`: a partner or a rule said no (credit, card, supplier, total)
 * - `rejected`: a person said no
 * - `expired`: nobody answered the approval within its deadline
 * - `cancelled`: a person took the order back
 * - `discarded`: an operator gave a stuck run up; what could be undone was
 */
export const OUTCOMES = [
  'completed',
  'refused',
  'rejected',
  'expired',
  'cancelled',
  'discarded',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** As an order ends, and `exhausted`: the budget, or the patience with a model that makes no sense, is used up. */
export const AGENT_OUTCOMES = [...OUTCOMES, 'exhausted'] as const;
export type AgentOutcome = (typeof AGENT_OUTCOMES)[number];
