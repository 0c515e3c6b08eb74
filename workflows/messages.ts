import { CancellationScope, setHandler } from '@temporalio/workflow';
import { checkDecision } from '../core/answer-shapes.ts';
import type { Decision, Position } from '../core/contract.ts';
import { answerOperator } from './operator.ts';
import { takeDecision } from './approve.ts';
import type { OperatorCommand } from './definitions.ts';
import { cancelSignal, decideUpdate, operateUpdate, positionQuery } from './definitions.ts';
import { isFlooded, refuseFlood } from './flood.ts';
import { checkCommand, shortText } from './message-shapes.ts';
import { note } from './position.ts';
import type { CancelRequest, Run } from './run.ts';

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
  setHandler(operateUpdate, (command) => answerOperator(run, command), {
    validator: (command: OperatorCommand) => {
      refuseFlood();
      checkCommand(command);
    },
  });
  // A malformed signal must not fail the workflow task: nobody would hear of it, and the run would hang.
  setHandler(cancelSignal, (request: Partial<CancelRequest> | undefined) => {
    const by = shortText(request?.by, 'somebody');
    const reason = shortText(request?.reason, 'no reason given');
    requestCancel(run, steps, { by, reason, native: false });
  });
  setHandler(positionQuery, () => withProgress(run));
  CancellationScope.current().cancelRequested.catch(() => {
    const reason = 'cancelled in Temporal';
    requestCancel(run, steps, { by: 'temporal', reason, native: true });
  });
}

function requestCancel(run: Run, steps: CancellationScope, request: CancelRequest): void {
  const { by, reason } = request;
  if (run.cancel?.by === by && run.cancel.reason === reason) return;
  if (isFlooded()) return;
  if (!run.cancellable || run.cancel) {
    note(run, { type: 'cancel-too-late', by, reason });
    return;
  }
  run.cancel = request;
  note(run, { type: 'cancel-requested', by, reason });
  steps.cancel();
}

function withProgress({ position, prices, input }: Run): Position {
  if (position.step !== 'price') return position;
  const progress = `${prices.size} of ${input.order.lines.length} lines priced`;
  return { ...position, progress };
}
