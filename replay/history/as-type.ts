import type { KnownHistory } from './file.ts';

/** The same history, as if another workflow of the bundle had made it. */
export function asType(known: KnownHistory, name: string): KnownHistory {
  const events = (known.history.events ?? []).map((event) => {
    const { workflowExecutionStartedEventAttributes: started } = event;
    if (!started) return event;
    const attributes = { ...started, workflowType: { name } };
    return { ...event, workflowExecutionStartedEventAttributes: attributes };
  });
  return { ...known, history: { events } };
}
