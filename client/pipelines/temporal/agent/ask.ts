import type { Client } from '@temporalio/client';
import { requestIdOf } from '../../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../../core/agent/input.ts';
import { AGENT_VERSIONS } from '../../../../core/agent/versions.ts';
import type { SubmitResult } from '../../../../core/contract.ts';
import type { AgentOutcome } from '../../../../core/steps.ts';
import { initialPosition } from '../../../../workflows/agent/initial-position.ts';
import { AGENTS } from '../kinds.ts';
import { startOnce } from '../submit.ts';

/** Starts the request's run, once, as `submit` does an order's. */
export function ask(
  client: Client,
  taskQueue: string,
  asked: AgentAsk,
): Promise<SubmitResult<AgentOutcome>> {
  const { request, policy } = asked;
  const id = requestIdOf(request);
  // The one that a worker of today would take; the run says so itself when it has been taken up.
  const version = AGENT_VERSIONS.at(-1) ?? '';
  return startOnce(client, AGENTS, {
    id,
    taskQueue,
    content: request,
    input: asked,
    position: initialPosition(asked, new Date().toISOString(), version),
    workflowTaskTimeoutMs: policy.workflowTaskTimeoutMs,
    what: 'request',
    summary: `Request ${id.orderRef} of ${id.buyerId}`,
  });
}
