import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { RunPosition, SubmitResult } from '../../../core/contract.ts';
import { orderIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { canonicalJson } from '../../../core/order/canonical.ts';
import { toRunInput } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { Policy } from '../../../core/policy.ts';
import type { AgentOutcome, AnyStep } from '../../../core/steps.ts';
import { initialPosition } from '../../../workflows/initial-position.ts';
import {
  MEMO_CONTENT_HASH,
  MEMO_POSITION,
  initialAttributes,
} from '../../../workflows/search-attributes.ts';
import { describeWorkflow, isRunning, memoHash, memoPosition } from './description.ts';
import { ORDERS } from './kinds.ts';
import type { Kind } from './kinds.ts';

/** Starts the order's run. */
export async function submit(
  client: Client,
  taskQueue: string,
  order: Order,
  policy: Policy,
): Promise<SubmitResult> {
  const id = orderIdOf(order);
  const input = toRunInput(order, policy, new Date());
  return startOnce(client, ORDERS, {
    id,
    taskQueue,
    content: order,
    input,
    position: initialPosition(input, new Date().toISOString()),
    workflowTaskTimeoutMs: policy.workflowTaskTimeoutMs,
    what: 'order',
    summary: `Order ${id.orderRef} of ${id.buyerId}: ${order.lines.length} lines`,
  });
}

interface Start {
  id: OrderId;
  taskQueue: string;
  /** What tells a conflict from "already there". */
  content: object;
  input: object;
  position: RunPosition;
  workflowTaskTimeoutMs: number;
  /** For people: `order`. */
  what: string;
  summary: string;
}

/**
 * Starts a run of either kind, once for all time that the namespace keeps finished runs: a second start
 * finds the first one, running or finished, and says whether its content is the same.
 */
export async function startOnce<O extends AgentOutcome>(
  client: Client,
  kind: Kind<AnyStep, O>,
  start: Start,
): Promise<SubmitResult<O>> {
  const { id, content, what } = start;
  const contentHash = createHash('sha256').update(canonicalJson(content)).digest('hex');
  // The second round is for a run that was dropped from the server between refusal and look-up.
  for (let round = 0; round < 2; round++) {
    if (await started(client, kind, start, contentHash)) return { kind: 'started', id };
    const there = await alreadyThere(client, kind, { id, contentHash, what });
    if (there) return there;
  }
  throw new Error(`${kind.workflowIdOf(id)} can neither be started nor found`);
}

async function started(
  client: Client,
  { workflowType, workflowIdOf }: Kind<AnyStep, AgentOutcome>,
  { id, taskQueue, input, position, workflowTaskTimeoutMs, summary }: Start,
  contentHash: string,
): Promise<boolean> {
  try {
    await client.workflow.start(workflowType, {
      args: [input],
      workflowId: workflowIdOf(id),
      taskQueue,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      workflowTaskTimeout: workflowTaskTimeoutMs,
      memo: { [MEMO_POSITION]: position, [MEMO_CONTENT_HASH]: contentHash },
      typedSearchAttributes: initialAttributes(position),
      staticSummary: summary,
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** What a second start of a run finds; undefined when the first is gone. */
async function alreadyThere<O extends AgentOutcome>(
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
