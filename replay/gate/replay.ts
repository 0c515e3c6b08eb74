import { Worker } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { KnownHistory } from '../history/file.ts';

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
 * worker has no server, and runs no activity. Throws when the bundle can't be loaded.
 */
export async function* replayAll(
  workflowBundle: WorkflowBundleOption,
  histories: AsyncIterable<KnownHistory> | Iterable<KnownHistory>,
): AsyncGenerator<Replayed & { known: KnownHistory }> {
  let current: KnownHistory | undefined;
  async function* handedOver() {
    for await (const known of histories) {
      current = known;
      yield { history: known.history, workflowId: known.workflowId };
    }
  }
  // The SDK takes the next history only after it has answered for this one.
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, handedOver())) {
    if (!current) throw new Error('an answer to no history');
    const { name, workflowId, history } = current;
    const events = history.events?.length ?? 0;
    const problem = error === undefined ? {} : { error: error.message };
    yield { name, workflowId, events, ...problem, known: current };
  }
}
