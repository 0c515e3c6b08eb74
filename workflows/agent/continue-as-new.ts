import {
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { buyingAgent } from './buying-agent.ts';
import type { AgentRun, Carried } from './run.ts';

/** The engine suggests it by the number of events, and at 4 MB of its own; the memo's copies of a long run come to that. */
const MAX_HISTORY_BYTES = 4_000_000;

/** Whether the run should go on in a new execution as soon as nothing is under way. */
export function isFull(): boolean {
  const { continueAsNewSuggested, historySize } = workflowInfo();
  return continueAsNewSuggested || historySize > MAX_HISTORY_BYTES;
}

/**
 * Goes on in a new execution: throws what the SDK throws then. Only where nothing is under way: no call,
 * no question, no order. Returns when a cancel has come, which is told first.
 */
export async function continueAsNew(run: AgentRun): Promise<void> {
  await condition(allHandlersFinished);
  if (run.cancel) return;
  const { state, position, gates, failures, failed } = run;
  const carried: Carried = { state, position, gates, failures, failed };
  const { memo, typedSearchAttributes } = workflowInfo();
  const onwards = makeContinueAsNewFunc<typeof buyingAgent>({
    // As they are now: the SDK would carry on what the run began with.
    ...(memo && { memo }),
    typedSearchAttributes,
  });
  await onwards(run.asked, carried);
}
