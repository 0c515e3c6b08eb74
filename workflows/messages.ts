import { setHandler } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import { checkDecision } from '../core/answer-shapes.ts';
import type { Decision, Position } from '../core/contract.ts';
import { takeDecision } from './approve.ts';
import { decideUpdate, positionQuery } from './definitions.ts';
import { refuseFlood } from './flood.ts';
import { listenToAll } from './outside.ts';
import type { Run } from './run.ts';

/**
 * Registers what the outside may say to the run; before the first await, so that nothing that came
 * with the start is missed. `steps` is the scope that a cancel stops.
 */
export function listen(run: Run, steps: CancellationScope): void {
  setHandler(decideUpdate, (answer) => takeDecision(run, answer), {
    validator: (answer: Decision) => {
      refuseFlood();
      checkDecision(answer);
    },
  });
  listenToAll(run, {
    isTooLate: () => !run.cancellable || run.cancel !== undefined,
    take(request) {
      run.cancel = request;
    },
    stop: () => steps.cancel(),
  });
  setHandler(positionQuery, () => withProgress(run));
}

function withProgress({ position, prices, input }: Run): Position {
  if (position.step !== 'price') return position;
  const progress = `${prices.size} of ${input.order.lines.length} lines priced`;
  return { ...position, progress };
}
