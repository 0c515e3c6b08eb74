import type { ClientBase } from 'pg';
import { absorb } from '../../../core/agent/absorb.ts';
import { next } from '../../../core/agent/next.ts';
import { StepFailure } from '../../../core/failures.ts';
import type { HistoryEvent } from '../../../core/history.ts';
import { businessKey } from '../../../core/identity.ts';
import type { Outcome } from '../../../core/steps.ts';
import { wake } from '../../runs/inbox.ts';
import { contentHashOf, readThere, submitIn } from '../../runs/submit.ts';
import type { Transport } from '../../transport/contract.ts';
import { follow, stateOf } from '../follow.ts';
import type { AgentStepCode } from '../follow.ts';

/**
 * Submits the order, in the transaction that parks the agent's run, and follows it to its end. Looks at
 * the order's row each time something wakes it; an order that is there already is followed as its own.
 */
export const order: AgentStepCode = async (context) => {
  const { run, input, db, transport, cancelOrder } = context;
  const state = stateOf(run);
  const action = next(input, state);
  if (action.do !== 'follow-order') return follow(input, state);
  const orderRunId = businessKey(action.id);
  const { orderRef } = action.id;
  const there = await readThere<Outcome>(db, orderRunId);
  if (there && there.contentHash !== contentHashOf(action.order)) {
    const why = `order ${orderRef}: this buyer has another order under the same reference`;
    throw new StepFailure('never', 'other-order', why);
  }
  if (!there && state.following) {
    return { kind: 'give-up', reason: `the order ${orderRef} is gone` };
  }

  const started = absorb(input, state, { kind: 'order-started' });
  const history: HistoryEvent[] = state.following ? [] : [{ type: 'order-started', orderRef }];
  if (there?.outcome) {
    const { outcome, reason } = there;
    const ended = { kind: 'order-ended', outcome, ...(reason !== null && { reason }) } as const;
    history.push({ type: 'order-ended', orderRef, outcome });
    return follow(input, absorb(input, started, ended), { history });
  }
  const cancels = action.cancel !== undefined && !run.state.orderCancelled;
  if (action.cancel && cancels) await cancelOrder(action.id, action.cancel);
  return {
    kind: 'park',
    parkedFor: 'child',
    found: { agent: started, ...(cancels && { orderCancelled: true }) },
    history,
    async write(tx) {
      if (state.following) return;
      if (there) return adopt(tx, transport, orderRunId, run.id);
      const submitted = await submitIn(tx, transport, action.order, input.policy, run.id);
      if (submitted.kind === 'started') return;
      // Somebody was faster than our look: look again.
      throw new StepFailure('busy', 'order-there', `the order ${orderRef} has just been submitted`);
    },
  };
};

/** Has an order that was there before wake the run that follows it; one that has ended meanwhile, at once. */
async function adopt(
  tx: ClientBase,
  transport: Transport,
  orderRunId: string,
  runId: string,
): Promise<void> {
  const { rows } = await tx.query<{ ended: boolean }>(
    `UPDATE queue.run SET parent_id = $2 WHERE id = $1 RETURNING ended_at IS NOT NULL AS ended`,
    [orderRunId, runId],
  );
  if (rows[0]?.ended) await wake(tx, transport, runId);
}
