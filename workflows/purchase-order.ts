import { patched } from '@temporalio/workflow';
import type { RunInput } from '../core/order/run-input.ts';
import { begin, carryOut } from './carry-out.ts';
import type { Run, RunResult } from './run.ts';
import {
  approve,
  charge,
  credit,
  invoiceAndClose,
  place,
  price,
  reserve,
  screen,
  validate,
} from './steps.ts';

/**
 * One purchase order, from its first step to its end. Returns every business outcome; throws only for an
 * input that is none.
 *
 * Runs that began before `screen` was there go on in the old order. The patch is asked for once and
 * kept: of a run that was replayed up to here it says no, and a moment later it would say yes.
 */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  const version = patched('screen') ? '2' : '1';
  return carryOut(begin(input, version), takeSteps);
}

/** The steps in their order; each throws when the run leaves them there. */
async function takeSteps(run: Run): Promise<void> {
  const screens = run.position.version === '2';
  await validate(run);
  await price(run);
  await credit(run);
  if (screens) {
    await screen(run);
    await reserve(run);
  }
  await approve(run);
  if (!screens) await reserve(run);
  await charge(run);
  await place(run);
  await invoiceAndClose(run);
}
