import { parseOrder } from '../core/order/parse.ts';
import type { RunInput } from '../core/order/run-input.ts';

/**
 * Every fault of an order, in words; none when it is good. An activity, so that a rule that changes
 * later does not change what a run in flight has already been told, and the rules stay out of replay.
 */
export async function validate({ order }: RunInput): Promise<string[]> {
  const parsed = parseOrder(order);
  if (parsed.ok) return [];
  return parsed.faults.map(({ path, message, hint }) => `${path} ${message}: ${hint}`.trim());
}
