import type { History } from '../history/file.ts';

type Event = NonNullable<History['events']>[number];

/** One thing that a run asked of the engine, with everything that replay does not compare. */
interface Asked {
  what: string;
  /** Its parts as text, by what people call them. */
  parts: Readonly<Record<string, string>>;
}

/**
 * The first thing that two runs of the same order asked for in another way, in words; undefined when there
 * is none. Where one asks for something else there is nothing to compare any more: that, replay sees. The
 * references of their orders differ anyway.
 */
export function differenceOf(
  own: { history: History; orderRef: string },
  other: { history: History; orderRef: string },
): string | undefined {
  const [mine, theirs] = [askedBy(own), askedBy(other)];
  for (const [n, a] of mine.entries()) {
    const b = theirs[n];
    if (a.what !== b?.what) return undefined;
    const part = Object.keys(a.parts).find((name) => a.parts[name] !== b.parts[name]);
    if (part !== undefined) return `${a.what} has another ${part}`;
  }
  return undefined;
}

function askedBy({ history, orderRef }: { history: History; orderRef: string }): Asked[] {
  const of = (value: unknown) => JSON.stringify(value ?? null).replaceAll(orderRef, 'PO');
  return (history.events ?? []).flatMap((event) => askedIn(event, of));
}

function askedIn(event: Event, of: (value: unknown) => string): Asked[] {
  const { activityTaskScheduledEventAttributes: activity, timerStartedEventAttributes: timer } =
    event;
  if (activity) {
    const payloads = activity.input?.payloads ?? [];
    const input = payloads.map(({ data }) => Buffer.from(data ?? []).toString()).join();
    const limits = [activity.startToCloseTimeout, activity.heartbeatTimeout, activity.retryPolicy];
    return [
      {
        what: `activity "${activity.activityType?.name}"`,
        parts: { input: of(input), 'time limit': of(limits) },
      },
    ];
  }
  if (timer) return [{ what: 'a timer', parts: { length: of(timer.startToFireTimeout) } }];
  return [];
}
