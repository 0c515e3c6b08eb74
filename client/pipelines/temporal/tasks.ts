import type { Event } from './deviation.ts';

/**
 * The workflow task that a run has to be reset to so that the event is dropped: the one that asked for
 * it, or, of what came from outside, the last one that was completed before. Undefined when no task had
 * been completed by then.
 */
export function taskOf(events: readonly Event[], eventId: number): number | undefined {
  const event = events.find((each) => Number(each.eventId) === eventId);
  const asked = event && taskNamedIn(event);
  if (asked !== undefined) return asked;
  const before = events.filter((each) => {
    return each.workflowTaskCompletedEventAttributes && Number(each.eventId) <= eventId;
  });
  const last = before.at(-1)?.eventId;
  return last === undefined || last === null ? undefined : Number(last);
}

/** Everything that a task asked for carries its id. */
function taskNamedIn(event: Event): number | undefined {
  const attributes = Object.values(event).find(
    (value: unknown): value is { workflowTaskCompletedEventId: unknown } =>
      typeof value === 'object' && value !== null && 'workflowTaskCompletedEventId' in value,
  );
  const id = Number(attributes?.workflowTaskCompletedEventId);
  return id > 0 ? id : undefined;
}

/** Event ids come as numbers, as texts and as 64-bit integers of a class of their own. */
export function sameId(one: unknown, other: unknown): boolean {
  return String(one) === String(other);
}
