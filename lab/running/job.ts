import { isDeepStrictEqual } from 'node:util';
import { IMPLEMENTATIONS, type Implementation } from '../../core/contract.ts';
import type { Control, Expected, Outcome, Scenario, Size } from '../scenario.ts';

/** One scenario on one implementation, whole or with a guard missing. */
export interface Job {
  scenario: Scenario;
  implementation: Implementation;
  control?: Control;
}

/** How it went. `error` instead of an outcome: something happened that is no verdict. */
export interface Result {
  scenario: string;
  implementation: Implementation;
  /** The guard that was missing, for a control. */
  without?: string;
  expected: Expected;
  outcome?: Outcome;
  error?: string;
  /** Wall time, ms. */
  tookMs: number;
}

/** The scenarios themselves, the longest first, so that none is left running alone at the end. */
export function scenarioJobs(
  scenarios: readonly Scenario[],
  on: readonly Implementation[] = IMPLEMENTATIONS,
): Job[] {
  return [...scenarios]
    .sort((a, b) => secondsOf(b) - secondsOf(a))
    .flatMap((scenario) => on.map((implementation) => ({ scenario, implementation })));
}

/** Their controls: what breaks when a guard is missing. */
export function controlJobs(
  scenarios: readonly Scenario[],
  on: readonly Implementation[] = IMPLEMENTATIONS,
): Job[] {
  return scenarios.flatMap((scenario) =>
    (scenario.controls ?? [])
      .filter((control) => on.includes(control.on))
      .map((control) => ({ scenario, implementation: control.on, control })),
  );
}

export function nameOf({ scenario, implementation, control }: Job): string {
  const without = control ? ` without ${control.without.name}` : '';
  return `${scenario.name} on ${implementation}${without}`;
}

export function expectedOf({ scenario, implementation, control }: Job): Expected {
  return control ? { verdict: 'broke', how: control.breaks } : scenario.expected[implementation];
}

export function limitOf({ scenario }: Job, size: Size): number {
  return scenario.limitMs?.[size] ?? (size === 'small' ? 300_000 : 1_800_000);
}

/** Whether the outcome is the expected one, word for word; figures may differ. */
export function asExpected({ expected, outcome }: Pick<Result, 'expected' | 'outcome'>): boolean {
  return outcome !== undefined && isDeepStrictEqual(verdictOf(outcome), expected);
}

export function verdictOf(outcome: Outcome): Expected {
  switch (outcome.verdict) {
    case 'held':
      return { verdict: 'held' };
    case 'broke':
      return { verdict: 'broke', how: outcome.how };
    case 'cannot':
      return { verdict: 'cannot', reason: outcome.reason };
    default:
      return outcome satisfies never;
  }
}

function secondsOf({ seconds = 10 }: Scenario): number {
  return seconds;
}
