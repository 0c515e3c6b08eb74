import { IMPLEMENTATIONS } from '../../core/contract.ts';
import { verdictOf, type Result } from '../running/job.ts';
import type { Figures, Scenario } from '../scenario.ts';
import { figuresInWords, verdictInWords } from './cell.ts';

/** What a whole run found, as it is kept beside the page. */
export interface Findings {
  seed: number;
  machine: string;
  results: Result[];
}

/** What is drawn, and the file for it beside the page. */
export function plotsOf(results: readonly Result[]) {
  return results.flatMap(({ scenario, implementation, outcome }) => {
    const plot = outcome && outcome.verdict !== 'cannot' ? outcome.plot : undefined;
    return plot
      ? [{ scenario, implementation, plot, file: `lab-${scenario}-${implementation}.svg` }]
      : [];
  });
}

/** The page `docs/measured/lab.md`. */
export function pageOf(
  scenarios: readonly Scenario[],
  { seed, machine, results }: Findings,
): string {
  const whole = results.filter(({ without }) => without === undefined);
  const broken = results.filter(({ without }) => without !== undefined);
  const rows = scenarios.map(({ name, claim }) => {
    const cells = IMPLEMENTATIONS.map((on) =>
      cellOf(whole.find((each) => each.scenario === name && each.implementation === on)),
    );
    return `| **${name}**: ${claim} | ${cells.join(' | ')} |`;
  });
  const rungs = broken.map(
    (result) =>
      `| ${result.without} | ${result.implementation} | ${result.scenario} | ${cellOf(result)} |`,
  );
  return [
    '# The lab: the same faults against chain, queue and temporal',
    '',
    'Written by `npm run lab`; do not edit. Verdicts and counts are the same in every run; what stands in',
    'italics was measured and differs from run to run.',
    '',
    `Small sizes, seed ${seed}. ${machine}`,
    '',
    '| scenario | chain | queue | temporal |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    '## The ladder: what each missing guard breaks',
    '',
    '| without | on | scenario | what happens |',
    '| --- | --- | --- | --- |',
    ...rungs,
    '',
    ...plotsOf(whole).flatMap(({ scenario, implementation, plot, file }) => [
      `**${scenario} on ${implementation}**: ${plot.title.toLowerCase()}`,
      '',
      `![${plot.title}, ${implementation}](${file})`,
      '',
    ]),
  ].join('\n');
}

function cellOf(result: Result | undefined): string {
  if (!result?.outcome) return '';
  const { outcome } = result;
  const verdict = `**${verdictInWords(outcome)}**`;
  if (outcome.verdict === 'cannot') return verdict;
  const counted = figuresInWords(outcome.counted);
  const measured = figuresInWords(outcome.measured);
  return [verdict, counted, measured && `_${measured}_`].filter(Boolean).join('<br>');
}

/** Where two runs differ in what must be the same; empty when they agree. */
export function disagreements(kept: readonly Result[], fresh: readonly Result[]): string[] {
  return fresh.flatMap((result) => {
    const name = [result.scenario, result.implementation, result.without].filter(Boolean).join('/');
    const before = kept.find(
      (each) =>
        each.scenario === result.scenario &&
        each.implementation === result.implementation &&
        each.without === result.without,
    );
    if (!before) return [`${name} is missing`];
    const [was, is] = [before, result].map(constantsOf);
    return was === is ? [] : [`${name}: says ${was}, is ${is}`];
  });
}

function constantsOf({ outcome }: Result): string {
  if (!outcome) return 'nothing';
  const found: Figures = outcome.verdict === 'cannot' ? {} : outcome.counted;
  // What was counted first is no difference.
  const counted = Object.fromEntries(
    Object.entries(found).toSorted(([a], [b]) => a.localeCompare(b)),
  );
  return [verdictInWords(verdictOf(outcome)), figuresInWords(counted)].filter(Boolean).join('; ');
}
