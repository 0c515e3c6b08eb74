import { upsertMemo } from '@temporalio/workflow';
import { absorb } from '../../core/agent/absorb.ts';
import type { AgentEvent } from '../../core/agent/events.ts';
import { orderIdOfRequest } from '../../core/agent/identity.ts';
import { MEMO_TRANSCRIPT } from '../search-attributes.ts';
import type { AgentRun } from './run.ts';

/**
 * Tells the machine what happened. The position has it at once and is shown with the next move; where
 * in the store the transcript is must be known without a worker, so that is shown here.
 */
export function tell(run: AgentRun, event: AgentEvent): void {
  const before = run.state;
  run.state = absorb(run.input, before, event);
  const { turn, spent, draft, following, head, notes } = run.state;
  run.position = {
    ...run.position,
    turn,
    spent,
    ...(draft && { order: { id: orderIdOfRequest(run.id), started: following === true } }),
  };
  if (head !== before.head || notes !== before.notes) {
    upsertMemo({ [MEMO_TRANSCRIPT]: { ...(head && { head }), notes } });
  }
}
