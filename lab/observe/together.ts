import type { Figures, Outcome } from '../scenario.ts';

/** Nothing but that it broke. */
export const broke = (how: string): Outcome => ({ verdict: 'broke', how, counted: {} });

/** One verdict on several orders: broke in every way in which one of them did, each way named once. */
export function together(
  outcomes: readonly Outcome[],
  counted: Figures,
  measured: Figures = {},
): Outcome {
  const ways = outcomes.flatMap((each) => (each.verdict === 'broke' ? each.how.split(', ') : []));
  const how = [...new Set(ways)].join(', ');
  if (how !== '') return { verdict: 'broke', how, counted, measured };
  return { verdict: 'held', counted, measured };
}
