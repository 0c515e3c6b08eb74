/** The purchase order's nine steps, in the order in which a run takes them. */
export const STEPS = [
  'validate',
  'price',
  'credit',
  'approve',
  'reserve',
  'charge',
  'place',
  'invoice',
  'close',
] as const;
export type Step = (typeof STEPS)[number];

/** The steps with an effect that can be taken back, and what taking it back is called. */
export const UNDO = { reserve: 'release', charge: 'refund', place: 'cancel' } as const;
export type UndoableStep = keyof typeof UNDO;

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
