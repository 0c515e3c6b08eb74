import { workflowInfo } from '@temporalio/workflow';

/**
 * Answers are kept in the history, so a run that is answered without end would outgrow it (the engine
 * ends a run at 50 MB). No run of honest people gets near this.
 */
const MAX_HISTORY_BYTES = 20_000_000;

export function isFlooded(): boolean {
  return workflowInfo().historySize > MAX_HISTORY_BYTES;
}

/** Throws for a validator, when the run has been sent too much. */
export function refuseFlood(): void {
  if (isFlooded()) {
    throw new Error('this run has been sent too many answers; its history is full');
  }
}
