import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { OperatorAction, ResetResult, Stalled } from '../../../core/contract.ts';
import type { HistoryEntry } from '../../../core/history.ts';
import type { OrderId } from '../../../core/identity.ts';
import { UNDO } from '../../../core/steps.ts';
import { describeRun, historyOf, isRunning, isoOf } from './description.ts';
import { valueOf } from './deviation.ts';
import type { Event } from './deviation.ts';
import { stallOf } from './stall.ts';
import { sameId, taskOf } from './tasks.ts';

/**
 * Drops the end of a run's history and lets the code that is running now go on from there, under the same
 * workflow id. Without `toEvent`, the end begins with what that code does not come to.
 */
export async function reset(
  client: Client,
  id: OrderId,
  { by, why, toEvent }: OperatorAction & { toEvent?: number },
): Promise<ResetResult> {
  const run = await describeRun(client, id);
  if (!run) return { kind: 'not-found' };
  // What its end has undone could not be done again: the effect keys are used up.
  if (!isRunning(run)) return conflict('the run has ended');
  const { workflowId, runId } = run;
  const history = historyOf(client, run);
  const events = await history();
  const point =
    toEvent === undefined ? pointIn(await stallOf(client, run, history)) : pointAt(events, toEvent);
  if (typeof point === 'string') return conflict(point);
  const task = events.find(({ eventId }) => Number(eventId) === point);
  if (!task?.eventId) return conflict(`the history has no event ${point}`);
  const dropped = events.slice(events.indexOf(task));
  const done = activitiesDoneIn(dropped, events);
  const undone = done.filter((name) => UNDOS.includes(name));
  if (undone.length > 0) {
    return conflict(
      `${undone.join(', ')} was done after event ${point}: what it took back keeps its key and could not be done again`,
    );
  }
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    // With its run id: the event is one of this history and of no later one.
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: task.eventId,
    reason: reasonOf({ by, why }),
    identity: by,
    // A repeated command is the same reset.
    requestId: `reset/${runId}/${point}`,
  });
  return { kind: 'reset', toEvent: point, again: done, sentAgain: messagesIn(dropped) };
}

const UNDOS: readonly string[] = Object.values(UNDO);

function conflict(reason: string): ResetResult {
  return { kind: 'conflict', reason };
}

/** Where the code that runs now leaves the history, or why there is nothing to reset. */
function pointIn(stalled: Stalled | undefined): number | string {
  if (!stalled) return 'nothing stops the run; give --to EVENT if you mean it all the same';
  if (stalled.resetTo !== undefined) return stalled.resetTo;
  return `a reset would come to the same place again (${stalled.reason}); other code is what helps, or --to EVENT`;
}

function pointAt(events: readonly Event[], toEvent: number): number | string {
  if (toEvent > events.length) return `the history ends with event ${events.length}`;
  return taskOf(events, toEvent) ?? `the run had not begun at event ${toEvent}`;
}

/** Each kind once, in the order in which they were done. */
function activitiesDoneIn(dropped: readonly Event[], events: readonly Event[]): string[] {
  const names = dropped.flatMap(({ activityTaskCompletedEventAttributes: done }) => {
    const scheduled = events.find(({ eventId }) => done && sameId(eventId, done.scheduledEventId));
    return scheduled?.activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
  return [...new Set(names)];
}

function messagesIn(dropped: readonly Event[]): string[] {
  const messages = dropped.flatMap((event) => {
    const {
      workflowExecutionUpdateAcceptedEventAttributes: update,
      workflowExecutionSignaledEventAttributes: signal,
    } = event;
    const input = update?.acceptedRequest?.input;
    const name = input?.name ?? signal?.signalName;
    const [payload] = (update ? input?.args : signal?.input)?.payloads ?? [];
    return name ? [`${name}${byIn(valueOf(payload))}`] : [];
  });
  return [...new Set(messages)];
}

function byIn(argument: unknown): string {
  const named = typeof argument === 'object' && argument !== null && 'by' in argument;
  return named ? ` by ${String(argument.by)}` : '';
}

/** What the server keeps of a reset: one text. */
function reasonOf({ by, why }: OperatorAction): string {
  return `reset by ${JSON.stringify(by)}: ${why}`;
}

/** The resets of the run as entries of its history; those that somebody else made, too. */
export async function resetsOf(
  run: WorkflowExecutionDescription,
  history: () => Promise<readonly Event[]>,
): Promise<HistoryEntry[]> {
  if (!run.raw.workflowExtendedInfo?.lastResetTime) return [];
  return (await history()).flatMap((event) => {
    const failed = event.workflowTaskFailedEventAttributes;
    const at = isoOf(event.eventTime);
    if (!failed?.failure?.resetWorkflowFailureInfo || at === undefined) return [];
    const { by, why } = actionIn(failed.failure.message ?? '');
    return [{ at, type: 'reset', by, why, toEvent: Number(event.eventId) }];
  });
}

function actionIn(reason: string): OperatorAction {
  const [, by, why] = /^reset by ("(?:[^"\\]|\\.)*"): (.*)$/s.exec(reason) ?? [];
  if (by === undefined || why === undefined) return { by: 'temporal', why: reason };
  return { by: JSON.parse(by) as string, why };
}
