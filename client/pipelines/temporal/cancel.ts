import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { CancelResult } from '../../../core/contract.ts';
import { cancelSignal } from '../../../workflows/definitions.ts';
import { describeWorkflow, isRunning } from './description.ts';
import { stallOf } from './stall.ts';

/** Asks the run to stop and undo what it did. The request is durable, also while no worker lives. */
export async function cancel(
  client: Client,
  workflowId: string,
  by: string,
  reason: string,
): Promise<CancelResult> {
  const ended = { kind: 'conflict', conflict: 'ended', reason: 'the run has ended' } as const;
  const run = await describeWorkflow(client, workflowId);
  if (!run) return { kind: 'not-found' };
  if (!isRunning(run)) return ended;
  try {
    await client.workflow.getHandle(workflowId).signal(cancelSignal, { by, reason });
    const stalled = await stallOf(client, run);
    return { kind: 'requested', ...(stalled && { stalled: stalled.reason }) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return ended;
    throw error;
  }
}
