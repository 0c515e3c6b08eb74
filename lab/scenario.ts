import type { Implementation } from '../core/contract.ts';
import type { World } from './world/world.ts';

/** Numbers that a table can show beside a verdict, e.g. `{ charges: 2, recoveryMs: 1310 }`. */
export type Figures = Readonly<Record<string, number | string>>;

export type Outcome =
  | { verdict: 'held'; figures: Figures }
  /** `how` in words, as short as the table wants it: "charged twice". */
  | { verdict: 'broke'; how: string; figures: Figures }
  | { verdict: 'cannot'; reason: string };

/** What a scenario must come to; anything else makes the lab exit 1. `how` and `reason` are compared too. */
export type Expected =
  { verdict: 'held' } | { verdict: 'broke'; how: string } | { verdict: 'cannot' };

export interface ScenarioOptions {
  size: 'small' | 'full';
  seed: number;
}

/**
 * The same run with one guard taken away by the lab (a broken copy, a change in the database; never a
 * flag in the product). It must break: otherwise the scenario proves nothing.
 */
export interface Control {
  /** The guard that is missing, e.g. "the lease". */
  without: string;
  on: Implementation;
  run(world: World, options: ScenarioOptions): Promise<Outcome>;
  breaks: string;
}

/** One failure, put to every implementation, judged from the outside only. */
export interface Scenario {
  name: string;
  /** One line, what a reader may believe when it held. */
  claim: string;
  /** Which point of the two readings it belongs to, in our own words. */
  about: string;
  fault: string;
  counted: string;
  /** Where the code that holds lives, per implementation: files of this repository. */
  code: Partial<Record<Implementation, readonly string[]>>;
  expected: Record<Implementation, Expected>;
  run(world: World, options: ScenarioOptions): Promise<Outcome>;
  controls?: readonly Control[];
}
