/** More than a timer of a process can hold: 2^31 - 1 ms are 24.8 days. */
export const DAYS = 25;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The first day whose charge hour (9:00 UTC) is at least that many days from now, and that moment. */
export function chargeDay(now: Date): { day: string; dueAt: number } {
  for (let days = DAYS; ; days += 1) {
    const day = new Date(now.getTime() + days * DAY_MS).toISOString().slice(0, 10);
    const dueAt = Date.parse(`${day}T09:00:00Z`);
    // A minute more, for what the order needs until it waits.
    if (dueAt - now.getTime() >= DAYS * DAY_MS + MINUTE_MS) return { day, dueAt };
  }
}

export function daysEarly(at: string, dueAt: number): number {
  return Math.floor((dueAt - Date.parse(at)) / DAY_MS);
}
