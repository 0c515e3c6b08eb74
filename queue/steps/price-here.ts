import { StepFailure } from '../../core/failures.ts';
import { waitForPartner } from '../limits/partner-limit.ts';
import type { StepContext } from './step.ts';

/**
 * An order of up to this many lines is priced by the holder of its run, all lines at the same time.
 * A child costs some four commits (claim, take, outcome, the run's next look), a quote costs one
 * request; above eight, what a retry asks again and how long the run's hands are full weigh more.
 */
export const LINES_PRICED_HERE = 8;

/**
 * The unit prices by line. Undefined when the order has too many lines for this (or for its own
 * fan-out), or when the supplier is to be left alone for now: each line then waits for its turn as a
 * child. Throws StepFailure once every line has answered.
 */
export async function priceHere(context: StepContext): Promise<Map<string, string> | undefined> {
  const { input, partners, db, read } = context;
  const { supplierId, currency, lines } = input.order;
  if (lines.length > Math.min(LINES_PRICED_HERE, input.policy.fanOut)) return undefined;
  for (let turns = 0; turns < lines.length; turns += 1) {
    if ((await waitForPartner(db, 'supplier')) > 0) return undefined;
  }
  return read(async (call) => {
    const quotes = lines.map(async ({ lineId, sku, unitPrice }) => {
      const line = { supplierId, currency, sku, ...(unitPrice !== undefined && { unitPrice }) };
      const quoted = await partners.supplier.quote(line, call);
      return [lineId, quoted.unitPrice] as const;
    });
    const answers = await Promise.allSettled(quotes);
    const failures = answers.flatMap((answer, n) =>
      answer.status === 'rejected' ? [named(answer.reason, lines[n]?.lineId)] : [],
    );
    if (failures.length > 0) throw worst(failures);
    return new Map(await Promise.all(quotes));
  });
}

/** A line that is refused ends the order, so it counts before one that may be had on the next attempt. */
function worst(failures: unknown[]): unknown {
  const isRefused = (failure: unknown) =>
    failure instanceof StepFailure && failure.failureClass === 'refused';
  return failures.find(isRefused) ?? failures[0];
}

/** A refusal is the order's own reason; any other failure says which line it was. */
function named(failure: unknown, lineId: string | undefined): unknown {
  if (!(failure instanceof StepFailure) || failure.failureClass === 'refused') return failure;
  const { failureClass, code, message, retryAfterMs } = failure;
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new StepFailure(failureClass, code, `line ${lineId}: ${message}`, {
    ...options,
    cause: failure,
  });
}
