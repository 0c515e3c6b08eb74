import type { RunInput } from '../../../core/order/run-input.ts';
import { begin, carryOut } from '../../../workflows/carry-out.ts';
import type { RunResult } from '../../../workflows/run.ts';
import { takeSteps } from './take-steps.ts';

export { priceLines } from '../../../workflows/price.ts';

/** The last deploy of the four: when no open run has the marker of the patch either. */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  return carryOut(begin(input, '2'), takeSteps);
}
