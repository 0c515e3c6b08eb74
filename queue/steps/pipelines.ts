import type { SEQUENCES } from '../../core/steps.ts';
import type { Step, UndoableStep } from '../../core/steps.ts';
import { approve } from './approve.ts';
import { charge, refund } from './charge.ts';
import { close } from './close.ts';
import { credit } from './credit.ts';
import { invoice } from './invoice.ts';
import { cancel, place } from './place.ts';
import { price } from './price.ts';
import { release, reserve } from './reserve.ts';
import { screen } from './screen.ts';
import type { StepCode, UndoCode } from './step.ts';
import { validate } from './validate.ts';

/** One version of the pipeline: the code of each of its steps. */
export interface PipelineVersion {
  steps: Partial<Record<Step, StepCode>>;
  undos: Record<UndoableStep, UndoCode>;
}

const undos = { reserve: release, charge: refund, place: cancel };

/** Every step of a version must have its code; the order in which they are taken is the version's own. */
const version1: Record<(typeof SEQUENCES)[1][number], StepCode> = {
  validate,
  price,
  credit,
  approve,
  reserve,
  charge,
  place,
  invoice,
  close,
};
const version2: Record<(typeof SEQUENCES)[2][number], StepCode> = { ...version1, screen };

/**
 * A deploy that changes which steps there are, or their order, adds a version and keeps the old ones.
 * A version may be deleted here once no run that has not ended is on it; until then its runs would be
 * left to workers that nobody starts any more.
 */
const VERSIONS: ReadonlyMap<string, PipelineVersion> = new Map([
  ['1', { steps: version1, undos }],
  ['2', { steps: version2, undos }],
]);

/** The versions that a worker has. It works on no run of another one. */
export interface Pipelines {
  readonly versions: string[];
  serves(version: string): boolean;
  /** Throws for a version that is not served. */
  of(version: string): PipelineVersion;
}

export function pipelinesOf(versions: ReadonlyMap<string, PipelineVersion> = VERSIONS): Pipelines {
  return {
    versions: [...versions.keys()],
    serves: (version) => versions.has(version),
    of(version) {
      const pipeline = versions.get(version);
      if (!pipeline) throw new Error(`version ${version} is not served here`);
      return pipeline;
    },
  };
}

/** The code's own versions, or some of them. Throws a RangeError for one that the code does not have. */
export function pipelinesFor(versions: readonly string[]): Pipelines {
  const some = versions.map((version) => {
    const pipeline = VERSIONS.get(version);
    if (pipeline) return [version, pipeline] as const;
    throw new RangeError(
      `there is no version ${version}; there are ${[...VERSIONS.keys()].join(', ')}`,
    );
  });
  return pipelinesOf(new Map(some));
}
