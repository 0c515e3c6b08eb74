import { deprecatePatch } from '@temporalio/workflow';
import type { RunInput } from '../../../core/order/run-input.ts';
import { begin, carryOut } from '../../../workflows/carry-out.ts';
import type { RunResult } from '../../../workflows/run.ts';
import { takeSteps } from '../removed/take-steps.ts';

export { priceLines } from '../../../workflows/price.ts';

/** The third deploy: when no open run is without the patch. Runs with its marker still are, and may be. */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  deprecatePatch('screen');
  return carryOut(begin(input, '2'), takeSteps);
}
