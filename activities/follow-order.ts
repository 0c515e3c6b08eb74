import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Pipeline } from '../core/contract.ts';
import { StepFailure } from '../core/failures.ts';
import { businessKey } from '../core/identity.ts';
import type { OrderId } from '../core/identity.ts';
import type { Order } from '../core/order/schema.ts';
import type { Policy } from '../core/policy.ts';
import type { Outcome } from '../core/steps.ts';
import { attempt } from './attempt.ts';
import type { AttemptCall } from './attempt.ts';

/** What is asked of orders that somebody else's run has started: one before a reset, a person. */
export type Orders = Pick<Pipeline, 'submit' | 'where'>;

export interface FindOrderCall extends AttemptCall {
  order: Order;
  policy: Policy;
}

export interface FollowOrderCall extends AttemptCall {
  id: OrderId;
}

export interface OrderEnd {
  outcome: Outcome;
  reason?: string;
}

/** Between two looks: longer with each, since an order that waits may wait for days. */
const LOOK_EVERY_MS = 1_000;
const LOOK_AT_LEAST_EVERY_MS = 60_000;

export function orderActivities(orders: Orders) {
  return {
    /** Makes sure that this very order has been started. Throws `never` when it is another one of the same name. */
    findOrder: ({ order, policy, ...call }: FindOrderCall): Promise<void> =>
      attempt(call, async () => {
        const found = await orders.submit(order, policy);
        if (found.kind !== 'conflict') return;
        const why = `order ${order.orderRef}: this buyer has another order under the same reference`;
        throw new StepFailure('never', 'other-order', why);
      }),

    /**
     * How an order ended. While it has not, the attempt fails and is made again later: so nobody holds a
     * slot for days, and the run's history does not grow.
     */
    followOrder: ({ id, ...call }: FollowOrderCall): Promise<OrderEnd> =>
      attempt(call, async () => {
        const found = await orders.where(id);
        if (found.kind !== 'position') {
          const message = `order ${businessKey(id)} is gone: ${found.kind}`;
          throw new StepFailure('never', 'no-order', message);
        }
        const { status, outcome, reason } = found.position;
        if (status !== 'ended') throw notYet();
        // Ended from outside, without a word of its own.
        return { outcome: outcome ?? 'discarded', ...(reason === undefined ? {} : { reason }) };
      }),
  };
}

function notYet(): ApplicationFailure {
  const doublings = Math.min(Context.current().info.attempt - 1, 10);
  const nextRetryDelay = Math.min(LOOK_AT_LEAST_EVERY_MS, LOOK_EVERY_MS * 2 ** doublings);
  return ApplicationFailure.create({
    message: 'the order has not ended',
    type: 'not-yet',
    nextRetryDelay,
  });
}
