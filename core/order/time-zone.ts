import { closest } from './closest.ts';
import type { Fault } from './fault.ts';
import { quote } from './quote.ts';

// Uses Intl, whose zone data changes with the Node that runs it: for the edge, never for workflows.

/** The fault of an order (still unchecked) that names a time zone nobody knows. */
export function zoneFault(order: unknown): Fault | undefined {
  const field: unknown =
    typeof order === 'object' && order !== null ? Reflect.get(order, 'timeZone') : undefined;
  const zone = typeof field === 'string' ? field.trim() : '';
  // A value of the wrong shape is the schema's fault already.
  if (!/^[\w/+-]+$/.test(zone) || !zone.includes('/')) return undefined;
  if (isTimeZone(zone)) return undefined;
  const meant = closest(zone, Intl.supportedValuesOf('timeZone'));
  return {
    path: 'timeZone',
    message: `is not a time zone: ${quote(zone)}`,
    hint: meant ? `did you mean "${meant}"?` : 'an IANA name, such as "Europe/Amsterdam"',
  };
}

export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * The moment (ms since 1970) at which the clocks of `zone` show `hour` o'clock on `date` (YYYY-MM-DD).
 * An hour that comes twice (autumn) is its first; one that is skipped (spring) is the moment after
 * the gap that is as far from midnight.
 */
export function momentOf(date: string, hour: number, zone: string): number {
  const wall = Date.parse(`${date}T${String(hour).padStart(2, '0')}:00:00Z`);
  const dayMs = 86_400_000;
  // No zone changes its clocks twice in two days, so one of these two offsets holds.
  const [before, after] = [offsetAt(wall - dayMs, zone), offsetAt(wall + dayMs, zone)];
  const exact = [wall - before, wall - after].filter((at) => at + offsetAt(at, zone) === wall);
  return exact.length > 0 ? Math.min(...exact) : wall - before;
}

/** How far the clocks of `zone` are ahead of UTC at `at`, in ms. */
function offsetAt(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value);
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wall - Math.trunc(at / 1000) * 1000;
}
