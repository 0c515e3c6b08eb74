import type { KnownHistory } from './file.ts';

/**
 * The history as it stood after each workflow task that was completed, the last one left out when that is
 * the whole: runs that were half done when new code came. What the task asked for is in, what came of it
 * is not.
 */
export function* cutsOf(known: KnownHistory): Generator<KnownHistory> {
  const events = known.history.events ?? [];
  for (const [at, event] of events.entries()) {
    if (!event.workflowTaskCompletedEventAttributes) continue;
    const length = at + 1 + commandsAfter(known, at);
    if (length < events.length) yield cutAfter(known, length);
  }
}

/** The first `length` events. */
export function cutAfter(known: KnownHistory, length: number): KnownHistory {
  const events = known.history.events?.slice(0, length) ?? [];
  return { ...known, name: `${known.name} cut after event ${length}`, history: { events } };
}

/** How many events right after a completed task are what it asked for: those that name it. */
function commandsAfter({ history }: KnownHistory, at: number): number {
  const events = history.events ?? [];
  const task = String(events[at]?.eventId);
  const rest = events.slice(at + 1);
  const other = rest.findIndex((event) => {
    const attributes = Object.values(event).find(
      (value: unknown): value is { workflowTaskCompletedEventId?: unknown } =>
        typeof value === 'object' && value !== null && 'workflowTaskCompletedEventId' in value,
    );
    return String(attributes?.workflowTaskCompletedEventId) !== task;
  });
  return other === -1 ? rest.length : other;
}
