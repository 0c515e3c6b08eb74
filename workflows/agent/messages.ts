import { CancellationScope, setHandler } from '@temporalio/workflow';
import type { AgentAnswer } from '../../core/agent/contract.ts';
import { checkAnswer } from '../../core/answer-shapes.ts';
import type { OperatorCommand } from '../definitions.ts';
import { answerUpdate, cancelSignal, operateUpdate } from '../definitions.ts';
import { isFlooded, refuseFlood } from '../flood.ts';
import { checkCommand, shortText } from '../message-shapes.ts';
import { answerOperator } from '../operator.ts';
import { note } from '../position.ts';
import type { CancelRequest } from '../run.ts';
import { take } from './ask.ts';
import type { AgentRun } from './run.ts';

/** Registers what the outside may say to the run; before the first await, as an order does. */
export function listen(run: AgentRun): void {
  setHandler(answerUpdate, (answer) => take(run, answer), {
    validator: (answer: AgentAnswer) => {
      refuseFlood();
      checkAnswer(answer);
    },
  });
  setHandler(operateUpdate, (command) => answerOperator(run, command), {
    validator: (command: OperatorCommand) => {
      refuseFlood();
      checkCommand(command);
    },
  });
  setHandler(cancelSignal, (request: Partial<CancelRequest> | undefined) => {
    const by = shortText(request?.by, 'somebody');
    const reason = shortText(request?.reason, 'no reason given');
    requestCancel(run, { by, reason, native: false });
  });
  CancellationScope.current().cancelRequested.catch(() => {
    requestCancel(run, { by: 'temporal', reason: 'cancelled in Temporal', native: true });
  });
}

function requestCancel(run: AgentRun, request: CancelRequest): void {
  const { by, reason } = request;
  if (run.cancel?.by === by && run.cancel.reason === reason) return;
  if (isFlooded()) return;
  if (run.cancel || run.position.status === 'ended') {
    note(run, { type: 'cancel-too-late', by, reason });
    return;
  }
  run.cancel = { ...request, told: false };
  note(run, { type: 'cancel-requested', by, reason });
  run.doing?.cancel();
}
