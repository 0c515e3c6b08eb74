import { eachObject, eachText, isObject, type Json, type JsonObject } from './json.ts';

/** The start of every recorded run, so that another recording differs where the runs differ. */
const START = Date.parse('2026-01-05T09:00:00Z');
/** What takes less depends on the machine; what the business waits for takes longer. */
const GRAIN_MS = 60_000;
const DAY_MS = 86_400_000;

/** Who, on which machine, under which request; and sizes and numbers of the server's own. No replay reads them. */
const DROPPED = new Set([
  'identity',
  'requestId',
  'taskId',
  'workerVersion',
  'historySizeBytes',
  'header',
]);
const CHANGED = new Set([
  ...DROPPED,
  'stackTrace',
  'upsertedMemo',
  'indexedFields',
  'startToFireTimeout',
  'coreUsedFlags',
  'langUsedFlags',
]);
/** A worker's own queue is named after its process and machine. */
const STICKY_QUEUE = /^\d+@.*$/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Takes out of a run's events what is about the machine and the hour: names of workers, stack traces,
 * request ids, run ids (numbered instead) and times (moved to begin at a fixed moment, waits of days
 * kept). What the run showed of itself in its memo goes too: it is most of a history, and no replay
 * compares it. `taskQueue` is the recording's own and becomes `orders`.
 */
export function normalise(events: readonly Json[], taskQueue: string): Json[] {
  const startedAt = startOf(events);
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    const known =
      ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, known);
    return known;
  };
  const moved = (time: number) => START + Math.floor((time - startedAt) / GRAIN_MS) * GRAIN_MS;
  const inText = (text: string) =>
    text
      .replaceAll(taskQueue, 'orders')
      .replace(STICKY_QUEUE, 'sticky')
      .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, numbered)
      // Names in the claim-check store stay: the agent tells one from the next.
      .replace(/(?<!sha256-)\b[0-9a-f]{64}\b/g, '0'.repeat(64))
      .replace(TIME, (time) => new Date(moved(Date.parse(time))).toISOString())
      .replace(/^\d{4}-\d\d-\d\d$/, (date) => {
        const days = Math.floor((START - startedAt) / DAY_MS) * DAY_MS;
        return new Date(Date.parse(date) + days).toISOString().slice(0, 10);
      });
  return events.map((event) =>
    eachText(
      eachObject(event, (object) => clean(object, moved)),
      inText,
    ),
  );
}

function startOf([first]: readonly Json[]): number {
  const time = isObject(first) ? first['eventTime'] : undefined;
  if (typeof time !== 'string') throw new Error('the first event has no time');
  return Date.parse(time);
}

/** Undefined leaves the object as it is, but for what is inside. */
function clean(object: JsonObject, moved: (time: number) => number): JsonObject | undefined {
  const { seconds, nanos } = object;
  if (typeof seconds === 'number' && typeof nanos === 'number') {
    // In the marker of a local activity, which sets the run's clock.
    const at = moved(seconds * 1_000 + nanos / 1e6);
    return { seconds: Math.floor(at / 1_000), nanos: (at % 1_000) * 1e6 };
  }
  const names = Object.keys(object);
  if (!names.some((name) => CHANGED.has(name))) return undefined;
  return Object.fromEntries(
    names
      .filter((name) => !DROPPED.has(name))
      .map((name) => [name, cleaned(name, object[name] ?? null, moved)]),
  );
}

function cleaned(name: string, value: Json, moved: (time: number) => number): Json {
  if (name === 'stackTrace') return '';
  if (name === 'startToFireTimeout') return roundedUp(value);
  if (name === 'upsertedMemo') return { fields: {} };
  if (name.endsWith('UsedFlags') && Array.isArray(value)) return value.toSorted();
  // A map of the server's, in another order each time.
  if (name === 'indexedFields' && isObject(value)) {
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  return eachObject(value, (inner) => clean(inner, moved));
}

/** A duration in Temporal's JSON: `86399.982s`. */
function roundedUp(duration: Json): Json {
  if (typeof duration !== 'string') return duration;
  const seconds = Number.parseFloat(duration);
  const grain = GRAIN_MS / 1_000;
  return `${seconds < grain ? seconds : Math.ceil(seconds / grain) * grain}s`;
}
