import { z } from 'zod';
import { toMinor } from '../../core/order/money.ts';
import { serve, type Desk } from './desk.ts';
import { field } from './inputs.ts';

/** What every buyer may spend, in major units of any currency. A buyer whose id starts with `poor` has nothing. */
const AVAILABLE = '50000';

/** The buyer's own finance department: read only. */
export function serveFinance(desk: Desk): void {
  serve(desk, {
    partner: 'finance',
    operation: 'available',
    method: 'GET',
    url: '/finance/budgets',
    input: z.strictObject({ buyerId: field.shortText, currency: field.currency }),
    about: () => ({}),
    act: ({ buyerId, currency }) => {
      const minor = buyerId.startsWith('poor') ? 0 : toMinor(AVAILABLE, currency);
      return { body: { available: { currency, minor } } };
    },
  });
}
