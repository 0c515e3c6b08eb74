import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/** The poll of the server holds for 20 s at most; it is repeated until this is over. */
const LIMIT_MS = 60_000;
/** FAST_FORWARD_POLLING_RESULT_… of the server's API: completed, failed. Anything else: not yet. */
const COMPLETED = 2;
const FAILED = 3;

/**
 * Moves the clock of one running workflow forward by `ms` and waits until it stands there, or until
 * the workflow has ended on the way. Its timers that come due fire at their own dates; other
 * workflows' clocks stay. The clock moves only while no activity of the workflow is in flight, so bring
 * the run to its wait first, or this throws after a minute. Needs a development server with
 * `frontend.WorkflowTimeSkippingEnabled`.
 */
export async function fastForward(
  client: Client,
  workflowId: string,
  ms: number,
): Promise<'there' | 'ended'> {
  const { workflowService } = client;
  const { namespace } = client.options;
  const workflowExecution = { workflowId };
  const fastForwardId = randomUUID();
  await workflowService.updateWorkflowExecutionOptions({
    namespace,
    workflowExecution,
    workflowExecutionOptions: {
      timeSkippingConfig: {
        enabled: true,
        // A child started on the way would skip without end.
        disablePropagation: true,
        fastForwardConfig: { id: fastForwardId, duration: msToTs(ms) },
      },
    },
    updateMask: { paths: ['time_skipping_config'] },
  });
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    const { fastForwardPollingResult, failedReason } =
      await workflowService.pollWorkflowExecutionTimeSkipping({
        namespace,
        workflowExecution,
        fastForwardId,
      });
    if (Number(fastForwardPollingResult) === COMPLETED) return 'there';
    if (Number(fastForwardPollingResult) === FAILED) {
      const { status } = await client.workflow.getHandle(workflowId).describe();
      if (status.name !== 'RUNNING') return 'ended';
      throw new Error(`the clock of ${workflowId} did not get there: ${failedReason}`);
    }
  }
  throw new Error(`the clock of ${workflowId} did not move by ${ms} ms: is an activity in flight?`);
}
