import type { Run } from '../../../workflows/run.ts';
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
} from '../../../workflows/steps.ts';

/** The new order alone. */
export async function takeSteps(run: Run): Promise<void> {
  await validate(run);
  await price(run);
  await credit(run);
  await screen(run);
  await reserve(run);
  await approve(run);
  await charge(run);
  await place(run);
  await invoiceAndClose(run);
}
