import { UNDOABLE } from '../../core/steps.ts';
import type { Step } from '../../core/steps.ts';
import type { PipelineVersion } from '../steps/pipelines.ts';

/** A version with its steps in their order. */
export interface Sequence extends PipelineVersion {
  version: string;
  order: readonly Step[];
}

/**
 * Why a run that stands at `step` may not go on with another version, undefined when it may: then what
 * it has done is what the other version would have done by then, by the same code, so that nothing is
 * left out, nothing is done twice and everything can be undone. Pure.
 */
export function whyNotMove(
  { step, compensating }: { step: Step; compensating: boolean },
  from: Sequence,
  to: Sequence,
): string | undefined {
  const otherUndo = UNDOABLE.find((each) => from.undos[each] !== to.undos[each]);
  if (otherUndo) return `version ${to.version} undoes ${otherUndo} by other code`;
  // What is undone comes out of the ledger, whatever the order of the steps was.
  if (compensating) return undefined;

  if (!to.order.includes(step)) return `version ${to.version} has no step ${step}`;
  const done = before(from.order, step);
  const supposed = before(to.order, step);
  const skipped = supposed.filter((each) => !done.includes(each));
  if (skipped.length > 0) {
    return `version ${to.version} has ${list(skipped)} before ${step}, and this run has not done that`;
  }
  const ahead = to.order.slice(supposed.length);
  const twice = done.filter((each) => ahead.includes(each));
  if (twice.length > 0) return `version ${to.version} would do ${list(twice)} again`;
  const changed = [...supposed, step].filter((each) => from.steps[each] !== to.steps[each]);
  if (changed.length > 0) {
    return `version ${to.version} has other code for ${list(changed)}, which may not know what this run has found out`;
  }
  return undefined;
}

function before(order: readonly Step[], step: Step): readonly Step[] {
  return order.slice(0, order.indexOf(step));
}

function list(steps: readonly Step[]): string {
  return steps.join(' and ');
}
