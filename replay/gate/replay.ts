import { Worker } from '@temporalio/worker';
import type { ReplayWorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { History, KnownHistory } from '../history/file.ts';

/** What came of replaying one history. */
export interface Replayed {
  name: string;
  workflowId: string;
  /** How many events it has. */
  events: number;
  /** As the SDK says it; undefined: the code does what the history says. */
  error?: string;
}

/**
 * Replays histories, one by one, against the workflows of a bundle. Nothing is sent anywhere: a replay
 * worker has no server, and runs no activity. Throws when the bundle can't be loaded. `sinks`: for a bundle
 * whose interceptors tell something.
 */
export async function* replayAll(
  workflowBundle: WorkflowBundleOption,
  histories: AsyncIterable<KnownHistory> | Iterable<KnownHistory>,
  sinks: NonNullable<ReplayWorkerOptions['sinks']> = {},
): AsyncGenerator<Replayed & { known: KnownHistory }> {
  let current: KnownHistory | undefined;
  async function* handedOver() {
    for await (const known of histories) {
      current = known;
      yield { history: underItsRunId(known.history), workflowId: known.workflowId };
    }
  }
  // The SDK takes the next history only after it has answered for this one.
  for await (const { error } of Worker.runReplayHistories(
    { workflowBundle, sinks },
    handedOver(),
  )) {
    if (!current) throw new Error('an answer to no history');
    const { name, workflowId, history } = current;
    const events = history.events?.length ?? 0;
    const problem = error === undefined ? {} : { error: error.message };
    yield { name, workflowId, events, ...problem, known: current };
  }
}

/**
 * A replay takes the run's id from the first event. A reset copies that event as it was, so a run that was
 * reset would be replayed under the id of the first one, and its code, which asks whether it was reset,
 * would be told no. The id that it has is in the reset's own event.
 */
function underItsRunId(history: History): History {
  const [first, ...events] = history.events ?? [];
  const reset = events.findLast(
    (event) => event.workflowTaskFailedEventAttributes?.failure?.resetWorkflowFailureInfo,
  );
  const runId = reset?.workflowTaskFailedEventAttributes?.newRunId;
  const started = first?.workflowExecutionStartedEventAttributes;
  if (!runId || !started) return history;
  const renamed = { ...started, originalExecutionRunId: runId };
  return {
    ...history,
    events: [{ ...first, workflowExecutionStartedEventAttributes: renamed }, ...events],
  };
}
