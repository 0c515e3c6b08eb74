import type { Money } from '../../core/order/money.ts';
import type { Run } from '../runs/run.ts';

/** What the order comes to. Throws before it is priced, which the order of the steps rules out. */
export function payableOf({ id, state }: Run): Money {
  if (!state.payable) throw new Error(`${id} has not been priced`);
  return state.payable;
}
