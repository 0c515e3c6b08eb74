import type { WorkflowBundleOption } from '@temporalio/worker';
import { cutAfter } from '../history/cut.ts';
import type { KnownHistory } from '../history/file.ts';
import { replayAll } from './replay.ts';
import { deviationInWords, eventInWords } from './words.ts';

/** Where the code leaves the history. */
export interface Deviation {
  /** The first event that the code does not come to. */
  eventId: number;
  /** `schedules activity "charge"`. */
  history: string;
  /** What the code does there: `schedules activity "place"`. */
  code: string;
  /** As the SDK says it. */
  error: string;
}

/**
 * Finds the first event that the code does not follow, by replaying ever shorter beginnings: not all of
 * the SDK's messages name it. `error` is what the whole history fails with.
 */
export async function findDeviation(
  bundle: WorkflowBundleOption,
  known: KnownHistory,
  error: string,
): Promise<Deviation> {
  const events = known.history.events ?? [];
  // Before its first task has begun, no code has run.
  let good = 1 + events.findIndex((event) => event.workflowTaskStartedEventAttributes);
  let bad = { length: events.length, error };
  // As a generator, all of it goes through one replay worker, each look depending on the one before.
  function* beginnings() {
    while (bad.length - good > 1) yield cutAfter(known, Math.floor((good + bad.length) / 2));
  }
  for await (const replayed of replayAll(bundle, beginnings())) {
    if (replayed.error === undefined) good = replayed.events;
    else bad = { length: replayed.events, error: replayed.error };
  }
  const event = events[bad.length - 1] ?? {};
  return {
    eventId: Number(event.eventId),
    history: eventInWords(event),
    code: deviationInWords(bad.error),
    error: bad.error,
  };
}
