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
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';

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
  id: OrderId,
  update: UpdateDefinition<T, [A]>,
  { argument, updateId }: { argument: A; updateId: string },
): Promise<Confirmed<T>> {
  const handle = client.workflow.getHandle(runIdOf(id));
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
      const reason = `no worker answered within ${withinMs} ms; repeat it, the same answer counts once`;
      return { kind: 'not-confirmed', reason };
    }
    if (isPassing(error)) {
      const reason = 'the server is busy or moving; repeat it, the same answer counts once';
      return { kind: 'not-confirmed', reason };
    }
    throw error;
  }
}

/** gRPC's RESOURCE_EXHAUSTED, ABORTED and UNAVAILABLE: the server says that it did not get to it now. */
const PASSING: readonly number[] = [8, 10, 14];

function isPassing(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && PASSING.includes(cause.code);
}

/** Makes a short part of an update id of any text. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
