import type { Step, UndoableStep } from '../../core/steps.ts';
import { approve } from './approve.ts';
import { charge, refund } from './charge.ts';
import { close } from './close.ts';
import { credit } from './credit.ts';
import { invoice } from './invoice.ts';
import { cancel, place } from './place.ts';
import { price } from './price.ts';
import { release, reserve } from './reserve.ts';
import type { StepCode, UndoCode } from './step.ts';
import { validate } from './validate.ts';

/** One version of the pipeline: the code of each step. */
export interface PipelineVersion {
  steps: Record<Step, StepCode>;
  undos: Record<UndoableStep, UndoCode>;
}

/** The version that new runs start with. A deploy that changes a step adds the next one and keeps this until its runs have ended. */
export const CURRENT_VERSION = '1';

const VERSIONS: ReadonlyMap<string, PipelineVersion> = new Map([
  [
    '1',
    {
      steps: { validate, price, credit, approve, reserve, charge, place, invoice, close },
      undos: { reserve: release, charge: refund, place: cancel },
    },
  ],
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
