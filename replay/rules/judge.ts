import type { Prepared } from './prepared.ts';
import type { DeviationOf, ReplaysOf } from './replays.ts';
import type { StepOutcome, TemporalOutcome, Verdict } from './rule.ts';

/** How the new run of a changed workflow went on a real server. */
export interface FreshVerdict {
  /** What its workflow task failed with. */
  error?: string;
  /** What is wrong with what came of it: "enquired twice". */
  wrong?: string;
}

/** Everything that was seen of a changed workflow. */
export interface WorkflowFacts {
  prepared: Prepared;
  /** Absent where there was no bundle to run. */
  fresh?: FreshVerdict;
  replays?: ReplaysOf;
}

/** What the sandbox throws where Node has something. */
const SANDBOX = /is not defined|DeterminismViolation|cannot be used in Workflows/;

/** The verdict on a changed workflow, and past the lint that refuses it. */
export function judgeWorkflow({ prepared, fresh, replays }: WorkflowFacts) {
  return behindLint<TemporalOutcome>(prepared, pastLint(prepared, fresh, replays));
}

function pastLint(
  { bundler }: Prepared,
  fresh: FreshVerdict = {},
  replays: ReplaysOf = {},
): Verdict<TemporalOutcome> {
  if (bundler !== undefined) return { outcome: 'refused by the bundler', says: refusalIn(bundler) };
  const { inFlight, differs } = replays;
  if (inFlight?.code.startsWith('throws: ')) {
    // Without the place in the source, which moves.
    const says = inFlight.code.replace(/ \(\S+\)$/, '');
    const outcome = SANDBOX.test(says) ? 'refused by the sandbox' : 'stalls';
    return { outcome, says };
  }
  const problem = fresh.error ?? fresh.wrong ?? (replays.fresh && inWords(replays.fresh));
  if (problem !== undefined) return { outcome: 'stalls', says: `a new run: ${problem}` };
  if (inFlight) return { outcome: 'patch needed', says: inWords(inFlight) };
  if (differs !== undefined) return { outcome: 'passes replay, but', says: differs };
  return { outcome: 'free', says: '' };
}

/** How a changed step went, in a run that was in it when the change came and in one that began with it. */
export interface StepFacts {
  prepared: Prepared;
  inFlight: string | undefined;
  fresh: string | undefined;
}

/** The verdict on a changed step of the queue or the chain, and past the lint that refuses it. */
export function judgeStep({ prepared, inFlight, fresh }: StepFacts) {
  const verdict = (): Verdict<StepOutcome> => {
    if (fresh !== undefined) return { outcome: 'breaks', says: fresh };
    if (inFlight !== undefined) return { outcome: 'version needed', says: inFlight };
    return { outcome: 'free', says: '' };
  };
  return behindLint<StepOutcome>(prepared, verdict());
}

function behindLint<Outcome extends string>(
  { lint }: Prepared,
  past: Verdict<Outcome>,
): Verdict<Outcome | 'refused by lint'> & { past?: Verdict<Outcome> } {
  if (lint.length === 0) return past;
  // The first sentence; the rest says where the rule is written down.
  const says = lint.map((message) => message.replace(/\. [A-Z].*$/s, '.')).join(' ');
  return { outcome: 'refused by lint', says, past };
}

function inWords({ at, code }: DeviationOf): string {
  return at === undefined ? code : `at ${at}; the code ${code}`;
}

/** The sentence with the module's name, of a page that the bundler writes. */
function refusalIn(said: string): string {
  return (
    /UnhandledSchemeError: (.*?\.)\s/.exec(said)?.[1] ?? said.split('\n').slice(0, 3).join(' ')
  );
}
