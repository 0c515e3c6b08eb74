import { orderLimits } from '../policy.ts';
import type { Policy } from '../policy.ts';
import { InvalidOrder } from './fault.ts';
import type { Order } from './schema.ts';
import { momentOf, zoneFault } from './time-zone.ts';

// For workflows: identity.ts, which needs no zone data. Here for everybody else who has a RunInput in hand.
export { orderIdOf } from '../identity.ts';

/** What a run starts with, on every implementation. Time zones are resolved here, at the edge, so that no workflow needs ICU data. */
export interface RunInput {
  order: Order;
  policy: Policy;
  /** Business revision, 1 at first; part of every effect key. */
  revision: number;
  /** When the charge is due (ISO 8601, UTC). Absent: at once. */
  chargeAt?: string;
}

/**
 * The input of a new run at `now`. The charge is due when the clocks of the order's time zone show
 * `policy.chargeHour` on `chargeOn`; a date that has passed means at once.
 * Throws InvalidOrder for a zone nobody knows and for a date more than maxChargeAheadDays ahead.
 */
export function toRunInput(order: Order, policy: Policy, now: Date): RunInput {
  const chargeAt = chargeMoment(order, policy, now);
  const input: RunInput = { order, policy, revision: 1 };
  if (chargeAt !== undefined && chargeAt > now.getTime()) {
    input.chargeAt = new Date(chargeAt).toISOString();
  }
  return input;
}

function chargeMoment(order: Order, policy: Policy, now: Date): number | undefined {
  const zone = zoneFault(order);
  if (zone) throw new InvalidOrder([zone]);
  if (order.chargeOn === undefined) return undefined;
  const at = momentOf(order.chargeOn, policy.chargeHour, order.timeZone ?? policy.chargeTimeZone);
  const latest = now.getTime() + orderLimits.maxChargeAheadDays * 86_400_000;
  if (at <= latest) return at;
  const message = `is more than ${orderLimits.maxChargeAheadDays} days ahead: ${order.chargeOn}`;
  const hint = `the last day is ${new Date(latest).toISOString().slice(0, 10)}`;
  throw new InvalidOrder([{ path: 'chargeOn', message, hint }]);
}
