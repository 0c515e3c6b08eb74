import type { SEQUENCES } from '../../core/steps.ts';
import type { AgentStep, Step, UndoableStep } from '../../core/steps.ts';
import { AGENT_VERSIONS } from '../../core/agent/versions.ts';
import { ask } from '../agent/steps/ask.ts';
import { order } from '../agent/steps/order.ts';
import { think } from '../agent/steps/think.ts';
import { use } from '../agent/steps/use.ts';
import type { AgentRunInput } from '../runs/input.ts';
import type { RunKind } from '../runs/run.ts';
import { kindOfVersion, nameOfAgentVersion } from '../versions/names.ts';
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
  steps: Partial<Record<Step, StepCode> & Record<AgentStep, StepCode<AgentRunInput>>>;
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

/** The same steps whatever the model is told: its prompt and tools are the version's, in the run's input. */
const agentSteps: Record<AgentStep, StepCode<AgentRunInput>> = { think, use, ask, order };
/** Nothing of what it does could be taken back; the order that it submits undoes itself. */
const nothing: UndoCode = () => Promise.resolve({ happened: false });
const agent: PipelineVersion = {
  steps: agentSteps,
  undos: { reserve: nothing, charge: nothing, place: nothing },
};

/**
 * A deploy that changes which steps there are, or their order, adds a version and keeps the old ones.
 * A version may be deleted here once no run that has not ended is on it; until then its runs would be
 * left to workers that nobody starts any more.
 */
const VERSIONS: ReadonlyMap<string, PipelineVersion> = new Map([
  ['1', { steps: version1, undos }],
  ['2', { steps: version2, undos }],
  ...AGENT_VERSIONS.map((version) => [nameOfAgentVersion(version), agent] as const),
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

/** Whether there is a version for runs of that kind. */
export function hasVersionFor(kind: RunKind, { versions }: Pipelines): boolean {
  return versions.some((version) => kindOfVersion(version) === kind);
}

/** The same without the agent's: for a worker that has no model. */
export function withoutAgent(pipelines: Pipelines): Pipelines {
  const orders = pipelines.versions.filter((version) => kindOfVersion(version) === 'order');
  return pipelinesOf(new Map(orders.map((version) => [version, pipelines.of(version)])));
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
