import type { History, KnownHistory } from '../../replay/history/file.ts';

type Event = NonNullable<History['events']>[number];

/** The history with every event replaced by what `change` makes of it. */
function eachEvent(known: KnownHistory, change: (event: Event) => Event): KnownHistory {
  return { ...known, history: { events: (known.history.events ?? []).map(change) } };
}

type CompletedTask = NonNullable<Event['workflowTaskCompletedEventAttributes']>;

/** The history with what its workers said of each workflow task replaced by what `change` makes of it. */
export function eachTask(
  known: KnownHistory,
  change: (task: CompletedTask) => CompletedTask,
): KnownHistory {
  return eachEvent(known, (event) => {
    const { workflowTaskCompletedEventAttributes: task } = event;
    return task ? { ...event, workflowTaskCompletedEventAttributes: change(task) } : event;
  });
}

/** The same history, as if an SDK with these flags had run it: none is one from before 1.10.2. */
export function withFlags(known: KnownHistory, langUsedFlags: number[]): KnownHistory {
  return eachTask(known, (task) => {
    const sdkMetadata = { ...task.sdkMetadata, langUsedFlags };
    return { ...task, sdkMetadata, workerVersion: null };
  });
}

/** How many workflow tasks were given a signal and the answer of an activity at once. */
export function tasksWithBoth({ history }: KnownHistory): number {
  let [signal, answer, tasks] = [false, false, 0];
  for (const event of history.events ?? []) {
    if (event.workflowExecutionSignaledEventAttributes) signal = true;
    if (event.activityTaskCompletedEventAttributes) answer = true;
    if (!event.workflowTaskStartedEventAttributes) continue;
    if (signal && answer) tasks++;
    [signal, answer] = [false, false];
  }
  return tasks;
}
