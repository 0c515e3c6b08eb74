import type { AgentPosition } from '../../core/agent/contract.ts';
import { requestIdOf } from '../../core/agent/identity.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { budgetOf } from '../../core/agent/shown.ts';
import { NOTHING_SPENT } from '../../core/agent/spend.ts';

/**
 * A run's position at `at` (ISO 8601), before its first step. The client puts it into the memo when it
 * starts a run; which version the run takes is for the worker to say that takes it up.
 */
export function initialPosition(
  { request, limits }: AgentAsk,
  at: string,
  version: string,
): AgentPosition {
  return {
    id: requestIdOf(request),
    implementation: 'temporal',
    step: 'think',
    status: 'running',
    attempts: 0,
    since: at,
    startedAt: at,
    version,
    turn: 0,
    spent: NOTHING_SPENT,
    budget: budgetOf(limits),
    history: [{ at, type: 'started', revision: 1 }],
  };
}
