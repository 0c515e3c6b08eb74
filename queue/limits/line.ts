import type { PartnerName } from '../../partners/contract.ts';

/** The last place in this process's line at each partner, on the process's own monotonic clock. */
const lastPlaces = new Map<PartnerName, { at: number; slotMs: number }>();

/**
 * When (in ms from now) one who has to wait for `waitMs` should come back. Everybody at the same moment
 * is what a limit is there to prevent: with a rate, those whom this process sends away come back one
 * slot (`slotMs`) after the other, so that a crowd of a hundred asks about a hundred times and not each
 * of them at every slot. Without one, a tenth of the wait is spread at random.
 *
 * Only advice, so it is kept in memory: the slots themselves are in the database.
 */
export function placeInLine(
  partner: PartnerName,
  waitMs: number,
  slotMs: number | null,
  { now = performance.now(), random = Math.random } = {},
): number {
  if (slotMs === null) return Math.ceil(waitMs * (1 + random() / 10));
  const last = lastPlaces.get(partner);
  // Under another rate than the line was formed for, a new line.
  const next = last?.slotMs === slotMs ? last.at + slotMs : 0;
  const at = Math.max(now + waitMs, next);
  lastPlaces.set(partner, { at, slotMs });
  return Math.ceil(at - now);
}
