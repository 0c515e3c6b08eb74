import { asExpected, type Result } from '../running/job.ts';
import type { Figures, Outcome } from '../scenario.ts';

/** A verdict as the table has it: `held`, `broke (charged twice)`, `cannot (reason)`. */
export function verdictInWords(
  outcome: Pick<Outcome, 'verdict'> & { how?: string; reason?: string },
): string {
  const why = outcome.how ?? outcome.reason;
  return why === undefined ? outcome.verdict : `${outcome.verdict} (${why})`;
}

/** `charges 2, recovery 1.3 s`; empty without figures. */
export function figuresInWords(figures: Figures = {}): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** One result for people: the verdict, its figures, and what was expected when it is something else. */
export function cellOf(result: Result): { verdict: string; figures: string; wrong?: string } {
  const { outcome, error, expected } = result;
  const verdict = outcome ? verdictInWords(outcome) : 'no outcome';
  const figures =
    outcome && outcome.verdict !== 'cannot'
      ? [figuresInWords(outcome.counted), figuresInWords(outcome.measured)]
          .filter(Boolean)
          .join('; ')
      : '';
  if (error !== undefined) return { verdict, figures, wrong: error };
  if (asExpected(result)) return { verdict, figures };
  return { verdict, figures, wrong: `expected ${verdictInWords(expected)}` };
}
