import type { WorkflowBundleOption } from '@temporalio/worker';
import {
  AN_ACTIVITY,
  deviationInWords,
  eventInWords,
} from '../../client/pipelines/temporal/deviation.ts';
import { cutAfter } from '../history/cut.ts';
import type { History, KnownHistory } from '../history/file.ts';
import { replayAll } from './replay.ts';

/** Where the code leaves the history. */
export interface Deviation {
  /** The first event that the code does not come to. */
  eventId: number;
  /** What the history says there: `schedules activity "charge"`. */
  history: string;
  /** What the code does there: `schedules activity "place"`. */
  code: string;
  /** As the SDK says it. */
  error: string;
}

/** Finds the first event that the code does not follow. `error` is what the whole history fails with. */
export async function findDeviation(
  bundle: WorkflowBundleOption,
  known: KnownHistory,
  error: string,
): Promise<Deviation> {
  const events = known.history.events ?? [];
  const named = /HistoryEvent\(id: (\d+),/.exec(error)?.[1];
  const at = named ? events.findIndex(({ eventId }) => String(eventId) === named) : -1;
  const length = at === -1 ? await shortestFailing(bundle, known) : at + 1;
  const event = events[length - 1] ?? {};
  const code = deviationInWords(error);
  return {
    eventId: Number(event.eventId),
    history: eventInWords(event),
    code: code === AN_ACTIVITY ? ((await whichActivity(bundle, known, length)) ?? code) : code,
    error,
  };
}

/** Not all of the SDK's messages name the event, so ever shorter beginnings are replayed until it is found. */
async function shortestFailing(bundle: WorkflowBundleOption, known: KnownHistory): Promise<number> {
  const events = known.history.events ?? [];
  // Before its first task has begun, no code has run.
  let good = 1 + events.findIndex((event) => event.workflowTaskStartedEventAttributes);
  let bad = events.length;
  // As a generator, all of it goes through one replay worker, each look depending on the one before.
  function* beginnings() {
    while (bad - good > 1) yield cutAfter(known, Math.floor((good + bad) / 2));
  }
  for await (const replayed of replayAll(bundle, beginnings())) {
    if (replayed.error === undefined) good = replayed.events;
    else bad = replayed.events;
  }
  return bad;
}

/**
 * The SDK names the activity that the code schedules only where the history schedules another one under
 * the same id. So the history is made to: in a copy, the event becomes an activity that nobody has, first
 * to learn the id and then the name.
 */
async function whichActivity(
  bundle: WorkflowBundleOption,
  known: KnownHistory,
  length: number,
): Promise<string | undefined> {
  let activityId = '?';
  let found: string | undefined;
  function* probes() {
    for (let round = 0; round < 2; round++) yield withActivity(known, length, activityId);
  }
  for await (const { error = '' } of replayAll(bundle, probes())) {
    activityId = /activity id of activity command '([^']*)'/.exec(error)?.[1] ?? activityId;
    found = /activity type of activity command '([^']*)'/.exec(error)?.[1];
  }
  return found === undefined ? undefined : `schedules activity "${found}"`;
}

/** The first `length` events, the last one replaced by an activity of no name. */
function withActivity(known: KnownHistory, length: number, activityId: string): KnownHistory {
  const events = known.history.events ?? [];
  const before = events.slice(0, length - 1);
  const event = events[length - 1];
  const task = before.findLast(({ workflowTaskCompletedEventAttributes: done }) => done)?.eventId;
  const nobodys: NonNullable<History['events']>[number] = {
    eventId: event?.eventId ?? null,
    eventTime: event?.eventTime ?? null,
    eventType: ACTIVITY_TASK_SCHEDULED,
    activityTaskScheduledEventAttributes: {
      activityId,
      activityType: { name: '?' },
      workflowTaskCompletedEventId: task ?? null,
    },
  };
  return { ...known, history: { events: [...before, nobodys] } };
}

/** EVENT_TYPE_ACTIVITY_TASK_SCHEDULED of the server's API. */
const ACTIVITY_TASK_SCHEDULED = 10;
