import { upsertMemo } from '@temporalio/workflow';
import { absorb } from '../../core/agent/absorb.ts';
import type { AgentEvent } from '../../core/agent/events.ts';
import { shownOf } from '../../core/agent/shown.ts';
import { MEMO_TRANSCRIPT } from '../search-attributes.ts';
import type { AgentRun } from './run.ts';

/**
 * Tells the machine what happened. The position has it at once and is shown with the next move; where
 * in the store the transcript is must be known without a worker, so that is shown here.
 */
export function tell(run: AgentRun, event: AgentEvent): void {
  const before = run.state;
  run.state = absorb(run.input, before, event);
  run.position = { ...run.position, ...shownOf(run.id, run.state) };
  const { head, notes } = run.state;
  if (head !== before.head || notes !== before.notes) {
    upsertMemo({ [MEMO_TRANSCRIPT]: { ...(head && { head }), notes } });
  }
}
