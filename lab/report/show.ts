import { IMPLEMENTATIONS } from '../../core/contract.ts';
import type { Scenario } from '../scenario.ts';
import { verdictInWords } from './cell.ts';

/** All there is to know about one scenario before it is run. */
export function explain(scenario: Scenario): string {
  const { name, claim, about, fault, counts, code, expected, controls = [] } = scenario;
  const sides = IMPLEMENTATIONS.flatMap((implementation) => [
    `  ${implementation}: ${verdictInWords(expected[implementation])}`,
    ...code[implementation].map((file) => `    ${file}`),
  ]);
  const missing = controls.map(
    (control) => `  ${control.on} without ${control.without.name}: broke (${control.breaks})`,
  );
  return [
    `${name}: ${claim}`,
    '',
    `Of the readings: ${about}`,
    `The fault: ${fault}`,
    `What is counted: ${counts}`,
    '',
    'What it must come to, and the code that makes it so:',
    ...sides,
    ...(missing.length > 0 ? ['', 'With a guard taken away:', ...missing] : []),
    '',
    'Watch it step by step:',
    ...IMPLEMENTATIONS.map((on) => `  npm run lab -- ${name} --on ${on} --slow`),
  ].join('\n');
}
