import { CancellationScope, setHandler } from '@temporalio/workflow';
import type { OperatorCommand } from './definitions.ts';
import { cancelSignal, operateUpdate } from './definitions.ts';
import { isFlooded, refuseFlood } from './flood.ts';
import { checkCommand, shortText } from './message-shapes.ts';
import { answerOperator } from './operator.ts';
import { note } from './position.ts';
import type { AnyRun, CancelRequest } from './run.ts';

/** How a run of one kind is cancelled. */
export interface Cancelling {
  isTooLate: () => boolean;
  /** Notes the request in the run; that it came is then shown. */
  take: (request: CancelRequest) => void;
  /** Ends what is being done. */
  stop: () => void;
}

/** Registers what may be said to runs of either kind: an operator's command, a cancel, and Temporal's own. */
export function listenToAll(
  run: AnyRun & { cancel?: CancelRequest },
  cancelling: Cancelling,
): void {
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
    requestCancel(run, cancelling, { by, reason, native: false });
  });
  CancellationScope.current().cancelRequested.catch(() => {
    const reason = 'cancelled in Temporal';
    requestCancel(run, cancelling, { by: 'temporal', reason, native: true });
  });
}

function requestCancel(
  run: AnyRun & { cancel?: CancelRequest },
  { isTooLate, take, stop }: Cancelling,
  request: CancelRequest,
): void {
  const { by, reason } = request;
  if (run.cancel?.by === by && run.cancel.reason === reason) return;
  if (isFlooded()) return;
  if (isTooLate()) {
    note(run, { type: 'cancel-too-late', by, reason });
    return;
  }
  take(request);
  note(run, { type: 'cancel-requested', by, reason });
  stop();
}
