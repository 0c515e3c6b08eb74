import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  startChild,
} from '@temporalio/workflow';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import type { AgentActivities } from '../../activities/index.ts';
import type { AgentInput } from '../../core/agent/input.ts';
import type { Action } from '../../core/agent/next.ts';
import { runIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import { checksOf, limitsOf, queueOf } from '../activities.ts';
import { cancelSignal } from '../definitions.ts';
import { problemOf } from '../failures.ts';
import { initialPosition } from '../initial-position.ts';
import { move, note, now, record } from '../position.ts';
import type { purchaseOrder } from '../purchase-order.ts';
import {
  MEMO_CONTENT_HASH,
  MEMO_POSITION,
  ORDER_WORKFLOW,
  initialAttributes,
} from '../search-attributes.ts';
import { askOperator } from './ask-operator.ts';
import type { AgentRun, FollowedOrder } from './run.ts';
import { tell } from './tell.ts';

type Follow = Action & { do: 'follow-order' };

/** Starts the order, or finds it there, and follows it to its end. With `cancel`, has it cancelled first: it says what becomes of that. */
export async function follow(run: AgentRun, action: Follow): Promise<void> {
  try {
    run.order ??= await started(run, action.order);
    const end = await endOf(run, run.order, action);
    const { orderRef } = action.id;
    tell(run, { kind: 'order-ended', ...end });
    record(run, { type: 'order-ended', orderRef, outcome: end.outcome });
  } catch (error) {
    if (isCancellation(error)) throw error;
    await askOperator(run, 'order', problemOf(error));
  }
}

/** Returns when the order is known to be there. Its start is no cancel's to stop: nobody could say then whether there is one. */
async function started(run: AgentRun, order: Order): Promise<FollowedOrder> {
  move(run, { step: 'order', status: 'running' });
  const hash = await checksOf().contentHash(order);
  const child = await CancellationScope.nonCancellable(() => startOrFind(run, order, hash));
  tell(run, { kind: 'order-started' });
  note(run, { type: 'order-started', orderRef: order.orderRef });
  const followed: FollowedOrder = { silent: !child, cancelled: false };
  child?.result().then(
    ({ outcome, reason }) => {
      followed.end = { outcome, ...(reason === undefined ? {} : { reason }) };
    },
    () => {
      // Cancelled, terminated or reset by somebody: what has become of the order it does not say.
      followed.silent = true;
    },
  );
  return followed;
}

async function startOrFind(run: AgentRun, order: Order, hash: string) {
  const child = await start(run, order, hash);
  const { policy } = run.input;
  if (!child) await ordersOf(run.input).findOrder({ limits: limitsOf(policy), order, policy });
  return child;
}

/** As if somebody had submitted it. Undefined: somebody has, under this name. */
async function start(
  run: AgentRun,
  order: Order,
  contentHash: string,
): Promise<ChildWorkflowHandle<typeof purchaseOrder> | undefined> {
  const input = { order, policy: run.input.policy, revision: 1 };
  const position = initialPosition(input, now());
  const { orderRef, buyerId } = position.id;
  try {
    return await startChild<typeof purchaseOrder>(ORDER_WORKFLOW, {
      args: [input],
      workflowId: runIdOf(position.id),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      // An order is not stopped halfway because whoever asked for it is gone.
      parentClosePolicy: 'ABANDON',
      cancellationType: 'WAIT_CANCELLATION_REQUESTED',
      workflowTaskTimeout: run.input.policy.workflowTaskTimeoutMs,
      memo: { [MEMO_POSITION]: position, [MEMO_CONTENT_HASH]: contentHash },
      typedSearchAttributes: initialAttributes(position),
      staticSummary: `Order ${orderRef} of ${buyerId}: ${order.lines.length} lines`,
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}

async function endOf(
  run: AgentRun,
  followed: FollowedOrder,
  { id, cancel }: Follow,
): Promise<NonNullable<FollowedOrder['end']>> {
  if (cancel && !followed.cancelled) {
    followed.cancelled = true;
    await requestCancel(id, cancel);
  }
  await condition(() => followed.end !== undefined || followed.silent);
  if (followed.end) return followed.end;
  return ordersOf(run.input).followOrder({ limits: limitsOf(run.input.policy), id });
}

/** The order's own way of being cancelled, so that name and reason are in its history. */
async function requestCancel(id: OrderId, cancel: { by: string; reason: string }): Promise<void> {
  try {
    await getExternalWorkflowHandle(runIdOf(id)).signal(cancelSignal, cancel);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // It has ended by now, and says how.
  }
}

function ordersOf({ policy }: AgentInput) {
  return proxyActivities<AgentActivities['model']>({
    taskQueue: queueOf('model'),
    startToCloseTimeout: policy.attemptTimeoutMs,
    heartbeatTimeout: policy.heartbeatMs,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    // A look a minute at most: longer than any order takes. See `followOrder`.
    retry: { maximumAttempts: 200_000, initialInterval: '1s', maximumInterval: '1m' },
  });
}
