import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { RunPosition, SubmitResult } from '../../../core/contract.ts';
import { orderIdOf, runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { canonicalJson } from '../../../core/order/canonical.ts';
import { toRunInput } from '../../../core/order/run-input.ts';
import type { RunInput } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Policy } from '../../../core/policy.ts';
import type { AgentOutcome, AnyStep } from '../../../core/steps.ts';
import { initialPosition } from '../../../workflows/initial-position.ts';
import {
  MEMO_CONTENT_HASH,
  MEMO_POSITION,
  ORDER_WORKFLOW,
  initialAttributes,
} from '../../../workflows/search-attributes.ts';
import { describeWorkflow, isRunning, memoHash, memoPosition } from './description.ts';
import { ORDERS } from './kinds.ts';
import type { Kind } from './kinds.ts';

/**
 * Starts the order's run, once for all time that the namespace keeps finished runs: a second submit
 * finds the first one, running or finished, and says whether its content is the same.
 */
export async function submit(
  client: Client,
  taskQueue: string,
  order: Order,
  policy: Policy,
): Promise<SubmitResult> {
  const id = orderIdOf(order);
  const input = toRunInput(order, policy, new Date());
  const contentHash = createHash('sha256').update(canonicalJson(order)).digest('hex');
  // The second round is for a run that was dropped from the server between refusal and look-up.
  for (let round = 0; round < 2; round++) {
    if (await started(client, taskQueue, input, contentHash)) return { kind: 'started', id };
    const there = await alreadyThere(client, ORDERS, { id, contentHash, what: 'order' });
    if (there) return there;
  }
  throw new Error(`${runIdOf(id)} can neither be started nor found`);
}

async function started(
  client: Client,
  taskQueue: string,
  input: RunInput,
  contentHash: string,
): Promise<boolean> {
  const { order, policy } = input;
  const id = orderIdOf(order);
  const position = initialPosition(input, new Date().toISOString());
  try {
    await client.workflow.start(ORDER_WORKFLOW, {
      args: [input],
      workflowId: runIdOf(id),
      taskQueue,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      workflowTaskTimeout: policy.workflowTaskTimeoutMs,
      memo: { [MEMO_POSITION]: position, [MEMO_CONTENT_HASH]: contentHash },
      typedSearchAttributes: initialAttributes(position),
      staticSummary: `Order ${id.orderRef} of ${id.buyerId}: ${order.lines.length} lines`,
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** What a second start of a run finds; undefined when the first is gone. `what` is for people: `order`. */
export async function alreadyThere<O extends AgentOutcome>(
  client: Client,
  { workflowIdOf }: Kind<AnyStep, O>,
  { id, contentHash, what }: { id: OrderId; contentHash: string; what: string },
): Promise<SubmitResult<O> | undefined> {
  const run = await describeWorkflow(client, workflowIdOf(id));
  if (!run) return undefined;
  if (memoHash(run) !== contentHash) {
    const reason = `this buyer has sent another ${what} under the same reference`;
    return { kind: 'conflict', id, reason };
  }
  if (isRunning(run)) return { kind: 'already-running', id };
  const { outcome } = memoPosition<RunPosition<AnyStep, O>>(run);
  return { kind: 'already-finished', id, ...(outcome === undefined ? {} : { outcome }) };
}
