import type { History, KnownHistory } from '../../replay/history/file.ts';

export type Event = NonNullable<History['events']>[number];

/** The history with every event replaced by what `change` makes of it. */
export function eachEvent(known: KnownHistory, change: (event: Event) => Event): KnownHistory {
  return { ...known, history: { events: (known.history.events ?? []).map(change) } };
}

/** The same history, as if another workflow of the bundle had made it. */
export function asType(known: KnownHistory, name: string): KnownHistory {
  return eachEvent(known, (event) => {
    const { workflowExecutionStartedEventAttributes: started } = event;
    if (!started) return event;
    const attributes = { ...started, workflowType: { name } };
    return { ...event, workflowExecutionStartedEventAttributes: attributes };
  });
}
