import type { Supplier } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';

export interface PriceInput extends StepCall {
  supplierId: string;
  currency: string;
  sku: string;
  unitPrice?: string;
}

export function priceActivities(supplier: Supplier) {
  return {
    /** One line's unit price, confirmed or quoted by the supplier, as a decimal string. Reads only, so it takes no key. */
    price: (input: PriceInput): Promise<string> =>
      attempt(input, async ({ read }) => {
        const { supplierId, currency, sku, unitPrice } = input;
        const asked = {
          supplierId,
          sku,
          currency,
          ...(unitPrice === undefined ? {} : { unitPrice }),
        };
        return (await supplier.quote(asked, read)).unitPrice;
      }),
  };
}
