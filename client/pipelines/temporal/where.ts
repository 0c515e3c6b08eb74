import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Position, RunPosition, WhereResult } from '../../../core/contract.ts';
import type { HistoryEntry } from '../../../core/history.ts';
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { positionQuery } from '../../../workflows/definitions.ts';
import { describeWorkflow, historyOf, isRunning, isoOf, memoPosition } from './description.ts';
import { resetsOf } from './reset.ts';
import { stallOf } from './stall.ts';

/** Progress is a comfort: an answer without it comes in time. */
const PROGRESS_WITHIN_MS = 250;

/** Where an order is, from what the server itself holds; only the progress of a step is asked of a worker. */
export async function where(client: Client, id: OrderId): Promise<WhereResult> {
  const found = await whereIs<Position>(client, runIdOf(id));
  if (found.kind !== 'position') return found;
  const { position } = found;
  // A stalled run answers nobody.
  if (position.step !== 'price' || position.stalled || position.status === 'ended') return found;
  const progress = await ask(client, id);
  return progress === undefined ? found : { kind: 'position', position: { ...position, progress } };
}

/** Where a run of any kind is, as far as no worker is needed. */
export async function whereIs<P extends RunPosition>(
  client: Client,
  workflowId: string,
): Promise<WhereResult<P>> {
  const run = await describeWorkflow(client, workflowId);
  if (!run) return { kind: 'not-found' };
  const history = historyOf(client, run);
  const [stalled, resets] = await Promise.all([
    stallOf(client, run, history),
    resetsOf(run, history),
  ]);
  const position = withResets(positionOf<P>(run), resets);
  if (!stalled) return { kind: 'position', position };
  return { kind: 'position', position: { ...position, status: 'stuck', stalled } };
}

/** The run itself does not know that it was reset: the server does. */
function withResets<P extends RunPosition>(position: P, resets: readonly HistoryEntry[]): P {
  if (resets.length === 0) return position;
  const history = [...position.history, ...resets].sort((a, b) => (a.at < b.at ? -1 : 1));
  return { ...position, history };
}

/** The position that the run wrote down, with what only the server knows since. */
export function positionOf<P extends RunPosition = Position>(run: WorkflowExecutionDescription): P {
  const position = memoPosition<P>(run);
  if (!isRunning(run)) return closed(run, position);
  // Looking whether an order has ended fails until it has.
  const pending = (run.raw.pendingActivities ?? []).filter((each) => {
    return each.activityType?.name !== 'followOrder';
  });
  // Of eight lines being priced at once, the one in most trouble is the one to show.
  const worst = pending.toSorted((a, b) => (b.attempt ?? 0) - (a.attempt ?? 0)).at(0);
  if (!worst) return position;
  // What the run itself has tried before, where the engine is not let try again.
  const attempts = position.attempts + (worst.attempt ?? 1);
  const lastFailure = worst.lastFailure?.message;
  if (!lastFailure) {
    const underWay = { ...position, attempts };
    delete underWay.nextAttemptAt;
    return underWay;
  }
  const next = isoOf(worst.nextAttemptScheduleTime);
  return {
    ...position,
    attempts,
    lastFailure,
    status: position.status === 'running' ? 'retrying' : position.status,
    ...(next === undefined ? {} : { nextAttemptAt: next }),
  };
}

/** A run that was ended from outside (terminated, failed by a bug) did not write its end down. */
function closed<P extends RunPosition>(run: WorkflowExecutionDescription, position: P): P {
  if (position.status === 'ended') return position;
  const rest = { ...position };
  delete rest.waitingFor;
  const endedAt = (run.closeTime ?? run.startTime).toISOString();
  const reason = `ended in Temporal: ${run.status.name.toLowerCase()}`;
  return { ...rest, status: 'ended', since: endedAt, endedAt, reason };
}

async function ask(client: Client, id: OrderId): Promise<string | undefined> {
  try {
    const handle = client.workflow.getHandle(runIdOf(id));
    const position = await client.withDeadline(Date.now() + PROGRESS_WITHIN_MS, () =>
      handle.query(positionQuery),
    );
    return position.progress;
  } catch {
    // No worker, a busy one, or one that can't replay the run: the position stands without it.
    return undefined;
  }
}
