import { agentRunIdOf } from '../../../core/agent/identity.ts';
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { AGENT_OUTCOMES, AGENT_STEPS, OUTCOMES, STEPS } from '../../../core/steps.ts';
import type { AgentOutcome, AgentStep, AnyStep, Outcome, Step } from '../../../core/steps.ts';
import { AGENT_WORKFLOW, ORDER_WORKFLOW } from '../../../workflows/search-attributes.ts';

/** What tells the runs of one kind from those of the other. */
export interface Kind<S extends AnyStep, O extends AgentOutcome> {
  workflowType: string;
  workflowIdOf: (id: OrderId) => string;
  steps: readonly [S, ...S[]];
  outcomes: readonly O[];
  /** Children that a run of this kind waits for, and stands still with. */
  childType: string;
}

export const ORDERS: Kind<Step, Outcome> = {
  workflowType: ORDER_WORKFLOW,
  workflowIdOf: runIdOf,
  steps: STEPS,
  outcomes: OUTCOMES,
  childType: 'priceLines',
};

export const AGENTS: Kind<AgentStep, AgentOutcome> = {
  workflowType: AGENT_WORKFLOW,
  workflowIdOf: agentRunIdOf,
  steps: AGENT_STEPS,
  outcomes: AGENT_OUTCOMES,
  childType: ORDER_WORKFLOW,
};
