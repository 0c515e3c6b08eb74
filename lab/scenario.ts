import type { Implementation } from '../core/contract.ts';
import type { Guard } from './guards/guard.ts';
import type { World, WorldOptions } from './world/world.ts';

/** Numbers and short words beside a verdict: `{ charges: 2 }`, `{ recovery: '1.3 s' }`. */
export type Figures = Readonly<Record<string, number | string>>;

interface Measured {
  /** What was counted: the same in every run of the same size and seed, so that documents can be checked. */
  counted: Figures;
  /** What was measured and differs from run to run: times, attempts. */
  measured?: Figures;
  /** Something that changed over time, to be drawn. */
  plot?: Plot;
}

export interface Plot {
  title: string;
  /** Of the values. Times are in s from the beginning. */
  unit: string;
  points: readonly (readonly [seconds: number, value: number])[];
}

/** What a scenario found out from the outside. */
export type Outcome =
  | ({ verdict: 'held' } & Measured)
  /** `how` as short as a table wants it: "charged twice". */
  | ({ verdict: 'broke'; how: string } & Measured)
  /** The implementation says itself that it can't, with its reason. */
  | { verdict: 'cannot'; reason: string };

/** What it must come to; anything else makes the lab exit 1. */
export type Expected =
  { verdict: 'held' } | { verdict: 'broke'; how: string } | { verdict: 'cannot'; reason: string };

export type Size = 'small' | 'full';

/** What a scenario has to work with on one implementation. */
export interface Stage {
  readonly implementation: Implementation;
  readonly size: Size;
  /** For everything that is drawn by lot. */
  readonly seed: number;
  /** Aborted when the lab stops or the scenario's time is up: end loops. */
  readonly signal: AbortSignal;
  /** A world of its own, with a guard missing if this is a control. Closed, with all its processes, at the end. */
  readonly world: (options?: WorldOptions) => Promise<World>;
  /** Tells who watches what happens now, in plain words. With `--slow` it waits before going on. */
  readonly say: (text: string) => Promise<void>;
  /** Called at the end, last one first, whatever happened: what the scenario started besides worlds. */
  readonly cleanUp: (undo: () => Promise<unknown>) => void;
}

/**
 * The same scenario on one implementation with a guard taken away by the lab. It must break: otherwise
 * the scenario proves nothing.
 */
export interface Control {
  on: Implementation;
  without: Guard;
  /** The `how` it must break with. */
  breaks: string;
  /** Instead of the scenario's own run, where the guard shows in another way. */
  run?: (this: void, stage: Stage) => Promise<Outcome>;
}

/** One failure, put to every implementation and judged from the outside only. */
export interface Scenario {
  /** As it is typed: `kill-worker`. */
  name: string;
  /** One line: what a reader may believe when it held. */
  claim: string;
  /** Which point of the readings it belongs to, in our own words. */
  about: string;
  /** What goes wrong, and how it is made to. */
  fault: string;
  /** What the verdict comes from. */
  counts: string;
  /** Where the code that holds is: files of this repository. */
  code: Readonly<Record<Implementation, readonly string[]>>;
  expected: Readonly<Record<Implementation, Expected>>;
  /** Throws when something else went wrong: that is no outcome. */
  run: (this: void, stage: Stage) => Promise<Outcome>;
  controls?: readonly Control[];
  /** How long one implementation may take on the slowest machine, ms. Default 300,000 small, 1,800,000 full. */
  limitMs?: Partial<Record<Size, number>>;
  /** Roughly how long the small size takes, s: the long ones start first. Default 10. */
  seconds?: number;
}
