import { clean } from './text.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** `in 3 days`, `5 minutes ago`: one unit, the largest of which there are about two. */
export function relativeTo(now: Date, then: Date): string {
  const ms = then.getTime() - now.getTime();
  const size = Math.abs(ms);
  if (size < 2 * SECOND) return 'now';
  if (size < 2 * MINUTE) return relative.format(Math.round(ms / SECOND), 'second');
  if (size < 2 * HOUR) return relative.format(Math.round(ms / MINUTE), 'minute');
  if (size < 2 * DAY) return relative.format(Math.round(ms / HOUR), 'hour');
  return relative.format(Math.round(ms / DAY), 'day');
}

/** A time (ISO 8601) as the reader's clock shows it, with the zone: `2026-12-04 16:40:12 CET`. */
export function localTime(iso: string): string {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return clean(iso);
  const parts = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  }).formatToParts(then);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((candidate) => candidate.type === type)?.value ?? '';
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  return `${date} ${part('hour')}:${part('minute')}:${part('second')} ${part('timeZoneName')}`;
}

/** Both: `2026-12-04 16:40:12 CET (in 5 days)`. */
export function when(iso: string, now: Date): string {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return clean(iso);
  return `${localTime(iso)} (${relativeTo(now, then)})`;
}
