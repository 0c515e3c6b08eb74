import type { z } from 'zod';
import { orderLimits } from '../policy.ts';
import { canonicalJson } from './canonical.ts';
import { boundFaults } from './fault.ts';
import type { Fault } from './fault.ts';
import { faultOfIssue } from './issues.ts';
import { orderSchema } from './schema.ts';
import type { Order } from './schema.ts';
import { zoneFault } from './time-zone.ts';

export type ParseResult = { ok: true; order: Order } | { ok: false; faults: Fault[] };

/**
 * The door for every order from outside, as decoded JSON: checks all rules and returns the canonical
 * order, or every fault (bounded). Never throws. Runs at the edge, not in workflows: it knows time zones.
 */
export function parseOrder(input: unknown): ParseResult {
  const parsed = orderSchema.safeParse(input);
  const zone = zoneFault(input);
  if (!parsed.success || zone) {
    const issues: z.core.$ZodIssue[] = parsed.success ? [] : parsed.error.issues;
    const faults = issues.flatMap((issue) => faultOfIssue(issue, input));
    return { ok: false, faults: boundFaults(zone ? [...faults, zone] : faults) };
  }
  const bytes = new TextEncoder().encode(canonicalJson(parsed.data)).length;
  if (bytes <= orderLimits.maxOrderBytes) return { ok: true, order: parsed.data };
  const hint = `at most ${orderLimits.maxOrderBytes} bytes as JSON: split the order or shorten its texts`;
  return { ok: false, faults: [{ path: '', message: `is ${bytes} bytes long`, hint }] };
}
