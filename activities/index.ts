import type { Partners } from '../partners/contract.ts';
import { chargeActivities } from './charge.ts';
import { creditActivities } from './credit.ts';
import { invoiceActivities } from './invoice.ts';
import type { Invoices } from './invoices.ts';
import { placeActivities } from './place.ts';
import { priceActivities } from './price.ts';
import { reserveActivities } from './reserve.ts';
import { validate } from './validate.ts';

export interface ActivityDependencies {
  partners: Omit<Partners, 'close'>;
  invoices: Invoices;
}

/** All activities of the purchase order, with what they reach the outside world through. */
export function createActivities({ partners, invoices }: ActivityDependencies) {
  return {
    validate,
    ...priceActivities(partners.supplier),
    ...creditActivities(partners.bureau),
    ...reserveActivities(partners.warehouse),
    ...chargeActivities(partners.payments),
    ...placeActivities(partners.supplier),
    ...invoiceActivities(invoices, partners.mailer),
  };
}

/** What workflows know of the activities: types only, never the code. */
export type Activities = Omit<ReturnType<typeof createActivities>, keyof LocalActivities>;

/** Those that a worker runs as part of its workflow task. */
export interface LocalActivities {
  validate: typeof validate;
}
