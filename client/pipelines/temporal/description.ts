import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Position, RunPosition } from '../../../core/contract.ts';
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { MEMO_CONTENT_HASH, MEMO_POSITION } from '../../../workflows/search-attributes.ts';
import type { Event } from './deviation.ts';

/** What the server knows of an order's run without asking a worker. Undefined: there is none, or it is past its retention. */
export function describeRun(
  client: Client,
  id: OrderId,
): Promise<WorkflowExecutionDescription | undefined> {
  return describeWorkflow(client, runIdOf(id));
}

/** The same of any workflow. */
export async function describeWorkflow(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The run's history, fetched once, when it is first asked for: it may be megabytes, and is seldom needed. */
export function historyOf(
  client: Client,
  { workflowId, runId }: WorkflowExecutionDescription,
): () => Promise<readonly Event[]> {
  let fetched: Promise<readonly Event[]> | undefined;
  const fetch = async () => {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return events ?? [];
  };
  return () => (fetched ??= fetch());
}

export function isRunning({ status }: WorkflowExecutionDescription): boolean {
  return status.name === 'RUNNING';
}

/** The run's position as it put it into its memo with its last transition. Throws when the workflow is not one of ours. */
export function memoPosition<P extends RunPosition = Position>({
  memo,
  workflowId,
}: Pick<WorkflowExecutionDescription, 'memo' | 'workflowId'>): P {
  const position = memo?.[MEMO_POSITION];
  if (typeof position !== 'object' || position === null || !('history' in position)) {
    throw new Error(
      `${workflowId} has no position in its memo: it was not started by this project`,
    );
  }
  // Written by our own workflow and nobody else, from the position of its kind.
  return position as unknown as P;
}

export function memoHash({ memo }: WorkflowExecutionDescription): string | undefined {
  const hash = memo?.[MEMO_CONTENT_HASH];
  return typeof hash === 'string' ? hash : undefined;
}

/** A time as the server sends it, in ISO 8601. `seconds` is a Long, a number or nothing at all. */
export function isoOf(
  time: { seconds?: { toString(): string } | null; nanos?: number | null } | null | undefined,
): string | undefined {
  if (!time?.seconds) return undefined;
  return new Date(Number(time.seconds.toString()) * 1_000 + (time.nanos ?? 0) / 1e6).toISOString();
}
