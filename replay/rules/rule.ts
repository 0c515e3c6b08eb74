import type { Edit } from '../changes/change.ts';

/**
 * What an edit of a workflow comes to.
 * - `free`: runs in flight go on, new ones too, and nothing of what is asked for differs
 * - `patch needed`: runs in flight stall, new ones are fine
 * - `passes replay, but`: runs in flight go on with what they have asked for already; what the engine is
 *   asked for is another thing now, and replay does not compare it
 * - `stalls`: new runs stall as well
 */
export const TEMPORAL_OUTCOMES = [
  'free',
  'passes replay, but',
  'patch needed',
  'refused by lint',
  'refused by the bundler',
  'refused by the sandbox',
  'stalls',
] as const;
export type TemporalOutcome = (typeof TEMPORAL_OUTCOMES)[number];

/**
 * What an edit of a hand-built step comes to.
 * - `free`: runs in flight and new ones end, every effect once, nothing open in the ledger
 * - `version needed`: that goes wrong for runs in flight, and new ones are fine
 * - `breaks`: it goes wrong for new ones as well
 */
export const STEP_OUTCOMES = ['free', 'version needed', 'breaks', 'refused by lint'] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

/** What came of an edit that was tried, and what the table says must. */
export interface Verdict<Outcome> {
  outcome: Outcome;
  /** In words, what was seen; empty for `free`. */
  says: string;
}

/** An edit of one side, and its verdict. */
export interface Trial<Outcome> extends Verdict<Outcome> {
  edits: readonly Edit[];
  /** Of what lint refuses: what happens to whoever does not run it. */
  past?: Verdict<Outcome>;
}

export interface WorkflowTrial extends Trial<TemporalOutcome> {
  /** What a worker with the edit has to have besides. */
  activities?: readonly Edit[];
}

export interface QueueTrial extends Trial<StepOutcome> {
  /** The version of runs in flight and of new ones, where the edit brings one. Default: today's for both. */
  versions?: { inFlight: string; fresh: string };
}

/** One edit that a team might make, on every side that has the place. */
export interface Rule {
  /** As the page calls it: "rename a local". */
  name: string;
  temporal: WorkflowTrial;
  queue: QueueTrial;
  chain?: Trial<StepOutcome>;
  /** Why the sides differ, or do not. */
  why: string;
}

/** The rule's name as a workflow type, a version and a folder: `renameALocal`. */
export function labelOf({ name }: Pick<Rule, 'name'>): string {
  return name
    .replace(/[^a-zA-Z0-9 ]/g, ' ')
    .trim()
    .replace(/ +(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether the queue's edits are of steps alone. Others are of what all versions of a worker share. */
export function isOfStepsOnly({ queue }: Rule): boolean {
  return queue.edits.every(
    ({ file }) => file.startsWith('queue/steps/') && file !== 'queue/steps/pipelines.ts',
  );
}

/** The workflow type of code that nothing was changed in: what the others are compared with. */
export const UNCHANGED = 'unchanged';

/** How each outcome of one side is counted. */
export function countOutcomes(trials: readonly Verdict<string>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of trials) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
