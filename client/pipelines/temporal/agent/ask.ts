import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { requestIdOf } from '../../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../../core/agent/input.ts';
import { AGENT_VERSIONS } from '../../../../core/agent/versions.ts';
import type { SubmitResult } from '../../../../core/contract.ts';
import { canonicalJson } from '../../../../core/order/canonical.ts';
import type { AgentOutcome } from '../../../../core/steps.ts';
import { initialPosition } from '../../../../workflows/agent/initial-position.ts';
import {
  AGENT_WORKFLOW,
  MEMO_CONTENT_HASH,
  MEMO_POSITION,
  initialAttributes,
} from '../../../../workflows/search-attributes.ts';
import { AGENTS } from '../kinds.ts';
import { alreadyThere } from '../submit.ts';

/** Starts the request's run, once, as `submit` does an order's. */
export async function ask(
  client: Client,
  taskQueue: string,
  asked: AgentAsk,
): Promise<SubmitResult<AgentOutcome>> {
  const id = requestIdOf(asked.request);
  const contentHash = createHash('sha256').update(canonicalJson(asked.request)).digest('hex');
  // The second round is for a run that was dropped from the server between refusal and look-up.
  for (let round = 0; round < 2; round++) {
    if (await started(client, taskQueue, asked, contentHash)) return { kind: 'started', id };
    const there = await alreadyThere(client, AGENTS, { id, contentHash, what: 'request' });
    if (there) return there;
  }
  throw new Error(`${AGENTS.workflowIdOf(id)} can neither be started nor found`);
}

async function started(
  client: Client,
  taskQueue: string,
  asked: AgentAsk,
  contentHash: string,
): Promise<boolean> {
  const { request, policy } = asked;
  const id = requestIdOf(request);
  // The one that a worker of today would take; the run says so itself when it has been taken up.
  const version = AGENT_VERSIONS.at(-1) ?? '';
  const position = initialPosition(asked, new Date().toISOString(), version);
  try {
    await client.workflow.start(AGENT_WORKFLOW, {
      args: [asked],
      workflowId: AGENTS.workflowIdOf(id),
      taskQueue,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      workflowTaskTimeout: policy.workflowTaskTimeoutMs,
      memo: { [MEMO_POSITION]: position, [MEMO_CONTENT_HASH]: contentHash },
      typedSearchAttributes: initialAttributes(position),
      staticSummary: `Request ${id.orderRef} of ${id.buyerId}`,
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
