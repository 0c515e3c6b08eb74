import {
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  isGrpcDeadlineError,
  isGrpcServiceError,
} from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { createHash } from 'node:crypto';
import { describeWorkflow } from './description.ts';
import { stallOf } from './stall.ts';

export type Confirmed<T> =
  | { kind: 'answer'; answer: T }
  | { kind: 'not-confirmed'; reason: string }
  /** The run ended before the update reached it. */
  | { kind: 'ended' };

/**
 * Sends an update, which only a worker can answer, and waits for the answer no longer than `withinMs`.
 * Under the same `updateId` a repeated one gets the first one's answer. Throws RangeError when the
 * run's validator finds it malformed.
 */
export async function confirm<T, A>(
  client: Client,
  withinMs: number,
  workflowId: string,
  update: UpdateDefinition<T, [A]>,
  { argument, updateId }: { argument: A; updateId: string },
): Promise<Confirmed<T>> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    const answer = await client.withDeadline(Date.now() + withinMs, () =>
      handle.executeUpdate(update, { args: [argument], updateId }),
    );
    return { kind: 'answer', answer };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'ended' };
    if (error instanceof WorkflowUpdateFailedError) {
      throw new RangeError(error.cause?.message ?? error.message, { cause: error });
    }
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) {
      const why =
        (await stalledBecause(client, workflowId)) ?? `no worker answered within ${withinMs} ms`;
      return notConfirmed(why);
    }
    if (hasCode(error, PASSING)) return notConfirmed('the server is busy or moving');
    // When a run's tasks have failed some times, the server takes no update for it any more.
    const why = hasCode(error, [FAILED_PRECONDITION]) && (await stalledBecause(client, workflowId));
    if (why) return notConfirmed(why);
    throw error;
  }
}

/** What a wait would not have changed. */
async function stalledBecause(client: Client, workflowId: string): Promise<string | undefined> {
  const run = await describeWorkflow(client, workflowId);
  const stalled = run && (await stallOf(client, run));
  return stalled && `the run is stuck until there is other code: ${stalled.reason}`;
}

function notConfirmed(why: string): { kind: 'not-confirmed'; reason: string } {
  return { kind: 'not-confirmed', reason: `${why}; repeat it, the same answer counts once` };
}

/** gRPC's RESOURCE_EXHAUSTED, ABORTED and UNAVAILABLE: the server says that it did not get to it now. */
const PASSING: readonly number[] = [8, 10, 14];
const FAILED_PRECONDITION = 9;

function hasCode(error: unknown, codes: readonly number[]): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && codes.includes(cause.code);
}

/** Makes a short part of an update id of any text. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
