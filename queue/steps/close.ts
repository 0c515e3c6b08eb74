import { formatMoney } from '../../core/order/money.ts';
import { payableOf } from './payable.ts';
import type { StepCode } from './step.ts';

/** The last step: what the order came to. */
export const close: StepCode = async ({ run }) => ({
  kind: 'done',
  detail: formatMoney(payableOf(run)),
});
