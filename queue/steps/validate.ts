import { StepFailure } from '../../core/failures.ts';
import { parseOrder } from '../../core/order/parse.ts';
import type { StepCode } from './step.ts';

/** Checks the order once more where it is worked on: it may have come in under older rules. Never retried. */
export const validate: StepCode = async ({ input }) => {
  const parsed = parseOrder(input.order);
  if (parsed.ok) return { kind: 'done' };
  const faults = parsed.faults.map(({ path, message, hint }) =>
    `${path} ${message}: ${hint}`.trim(),
  );
  throw new StepFailure('refused', 'invalid', faults.join('; '));
};
