import type { GateWaits } from '../decisions.ts';
import type { AgentPolicy } from './policy.ts';

// Apart from the policy's schema, so that a workflow, which waits, has none of zod.

/** How long a question of the agent waits for its answer. */
export function answerWaits(limits: AgentPolicy): GateWaits {
  return {
    reminderMs: limits.answerReminderMs,
    escalationMs: limits.answerEscalationMs,
    deadlineMs: limits.answerDeadlineMs,
  };
}
