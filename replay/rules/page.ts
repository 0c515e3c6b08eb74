import { diffOf } from './diff.ts';
import { countOutcomes, type Rule, type Trial, type Verdict } from './rule.ts';

/** The page docs/replay-rules.md, as Markdown that is not formatted yet. */
export function rulesPage(rules: readonly Rule[]): string {
  const chain = rules.flatMap(({ chain }) => chain ?? []);
  return [
    '# What one may write in the middle of a run',
    'Written by `npm run rules`; do not edit. Every edit below is made in a copy of the real source and tried each time, there and in the lab’s scenario `no-rules`, which CI runs: one that comes out otherwise fails it.',
    [
      `- **In a workflow**: ${counted(rules.map(({ temporal }) => temporal))}.`,
      `- **In a step of the queue**: ${counted(rules.map(({ queue }) => queue))}.`,
      `- **In a link of the chain**, where tried: ${counted(chain)}.`,
    ].join('\n'),
    'A step is run again from its own beginning and nothing else of it is: what it may not do follows from that alone. Its effects go through the ledger (`perform`) under a key that every attempt shares, one effect a step; names and order of the steps are data, so a change of those is a version; what `perform` throws is not caught; a wait is a row. Nobody refuses a step that does otherwise. It breaks on the day when an answer is lost.',
    '## All of them',
    table(rules),
    WORDS,
    '## One by one',
    ...rules.map(section),
  ].join('\n\n');
}

const WORDS = `What the words mean:

- **free**: runs in flight go on, new ones end with every effect once, and what they ask for is what it was. In a step: nothing is left open in the ledger either.
- **passes replay, but**: the same, and the engine is asked in another way, which replay does not compare. A run in flight keeps what it has asked for already.
- **patch needed**, **version needed**: new runs are fine, and those in flight are not. Both sides have the means to keep the old way for the old runs: \`patched\`, and a version beside the old one.
- **refused**, by lint, the bundler or the sandbox: it does not get as far as a run, or not past that line.
- **stalls**: the workflow task fails, in new runs too, until the code is mended. **breaks**: a new run comes to a wrong end, or to an operator.

How each is tried. A workflow: the project’s lint without the rules that need types; a bundle; replay of recorded runs of four paths and of one of the unchanged code; a new order on a server, whose answers from the bureau, the payments and the supplier are lost once; replay of that as well, and a query after its end, which has the server replay it: what it tells is what it wrote down. A step: lint; a run that stands in the credit step with the answer to its enquiry lost, taken up by a worker with the edit; a new one that loses three answers.`;

function counted(trials: readonly Verdict<string>[]): string {
  const parts = Object.entries(countOutcomes(trials)).map(
    ([outcome, n]) => `${n} ${outcome.replace(', but', '')}`,
  );
  return `${trials.length} edits: ${parts.join(', ')}`;
}

function table(rules: readonly Rule[]): string {
  const rows = rules.map(
    ({ name, temporal, queue }) => `| ${name} | ${short(temporal)} | ${short(queue)} |`,
  );
  return ['| edit | in a workflow | in a step of the queue |', '| --- | --- | --- |', ...rows].join(
    '\n',
  );
}

function short({ outcome, past }: Trial<string>): string {
  return past ? `${outcome} (past it: ${past.outcome})` : outcome;
}

function section({ name, temporal, queue, chain, why }: Rule): string {
  return [
    `### ${name[0]?.toUpperCase()}${name.slice(1)}`,
    why,
    ...side('In a workflow', temporal),
    ...side('In a step of the queue', queue),
    ...(chain ? side('In a link of the chain', chain) : []),
  ].join('\n\n');
}

function side(where: string, trial: Trial<string>): string[] {
  const past = trial.past ? ` Past it: ${inWords(trial.past)}.` : '';
  return [`${where}: ${inWords(trial)}.${past}`, `\`\`\`diff\n${diffOf(trial.edits)}\n\`\`\``];
}

function inWords({ outcome, says }: Verdict<string>): string {
  return says === '' ? `**${outcome}**` : `**${outcome}**: ${says.replace(/\.$/, '')}`;
}
