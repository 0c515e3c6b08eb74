import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { Limits, StepCall } from '../activities/attempt.ts';
import type { AgentActivities, LocalActivities, PartnerActivities } from '../activities/index.ts';
import type { PartnerQueue } from '../activities/partner-queues.ts';
import type { OrderId } from '../core/identity.ts';
import type { Policy } from '../core/policy.ts';

/**
 * The activities by partner, each on the partner's task queue, under the policy that the run started with.
 * There is no scheduleToCloseTimeout on purpose: it would count the hours in which every worker is down,
 * and the wait for a partner's rate; no step should fail for those. The attempts are what is bounded. A
 * lost worker uses up an attempt too: the engine counts in one number.
 */
export function activitiesOf(policy: Policy) {
  const at = <P extends keyof PartnerActivities>(partner: P) =>
    activitiesAt<P, PartnerActivities[P]>(partner, policy);
  return {
    payments: at('payments'),
    bureau: at('bureau'),
    warehouse: at('warehouse'),
    supplier: at('supplier'),
    mailer: at('mailer'),
  };
}

/** Those of the buying agent that only ask, under the same policy: `useTool` at both. */
export function toolsOf(policy: Policy) {
  return {
    supplier: activitiesAt<'supplier', AgentActivities['supplier']>('supplier', policy),
    finance: activitiesAt<'finance', AgentActivities['finance']>('finance', policy),
  };
}

type Partner = keyof PartnerActivities | keyof AgentActivities;

function activitiesAt<P extends Partner, A extends object>(partner: P, policy: Policy) {
  return proxyActivities<A>({
    taskQueue: queueOf(partner),
    startToCloseTimeout: policy.attemptTimeoutMs,
    heartbeatTimeout: policy.heartbeatMs,
    // An effect that is under way reports before its run goes on to undo it.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: {
      maximumAttempts: policy.maxAttempts,
      // Failures that know their class bring their own delay; this one is for lost workers. Zero is not allowed.
      initialInterval: Math.max(1, policy.retryInitialMs),
      maximumInterval: Math.max(1, policy.retryInitialMs, policy.retryMaxMs),
      backoffCoefficient: 2,
    },
  });
}

/** `partnerQueue` itself is the activities' code, which a workflow can't have; its type keeps the two alike. */
export function queueOf<P extends Partner>(partner: P): PartnerQueue<P> {
  return `${workflowInfo().taskQueue}-${partner}`;
}

/** Checks that a worker does by itself: no partner, no wait, and only the result in the history. */
export function checksOf() {
  return proxyLocalActivities<LocalActivities>({
    startToCloseTimeout: '10s',
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { maximumAttempts: 3 },
  });
}

/** What an activity is told of the policy: its input stays in the history, so only what it uses. */
export function limitsOf(policy: Policy): Limits {
  return {
    partnerTimeoutMs: policy.partnerTimeoutMs,
    settleMs: policy.settleMs,
    heartbeatMs: policy.heartbeatMs,
    maxAttempts: policy.maxAttempts,
    maxMissingAttempts: policy.maxMissingAttempts,
    retryInitialMs: policy.retryInitialMs,
    retryMaxMs: policy.retryMaxMs,
    retryAfterMaxMs: policy.retryAfterMaxMs,
    missingDelayMs: policy.missingDelayMs,
  };
}

/** What every activity is told. */
export function callOf(
  run: { id: OrderId; input: { revision: number; policy: Policy } },
  again: boolean,
): StepCall {
  const { revision, policy } = run.input;
  return { id: run.id, revision, again, limits: limitsOf(policy) };
}

/**
 * True of an order after a reset: the run that was reset may have had a request under way. A workflow that
 * continues as new would look as if it had been reset.
 */
export function wasReset(): boolean {
  const { runId, firstExecutionRunId } = workflowInfo();
  return runId !== firstExecutionRunId;
}
