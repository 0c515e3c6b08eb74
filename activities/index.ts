import type { ORDER_PARTNERS, Partners } from '../partners/contract.ts';
import { chargeActivities } from './charge.ts';
import { creditActivities } from './credit.ts';
import { invoiceActivities } from './invoice.ts';
import type { Invoices } from './invoices.ts';
import { placeActivities } from './place.ts';
import { priceActivities } from './price.ts';
import { reserveActivities } from './reserve.ts';
import { screenActivities } from './screen.ts';
import { validate } from './validate.ts';

export interface ActivityDependencies {
  partners: Omit<Partners, 'close'>;
  invoices: Invoices;
}

/** What a worker runs as part of its workflow task: no partner, so no queue of its own. */
export const localActivities = { validate };
export type LocalActivities = typeof localActivities;

/**
 * The activities of the purchase order by the partner they talk to, with what they reach the outside
 * world through. The partner says on which task queue they run, and so whose rate they count towards.
 */
export function partnerActivities({ partners, invoices }: ActivityDependencies) {
  const { payments, bureau, warehouse, supplier, mailer } = partners;
  return {
    payments: chargeActivities(payments),
    bureau: { ...creditActivities(bureau), ...screenActivities(bureau) },
    warehouse: reserveActivities(warehouse),
    supplier: { ...priceActivities(supplier), ...placeActivities(supplier) },
    // Writes a row of our own first; the mail is what somebody else's limit is about.
    mailer: invoiceActivities(invoices, mailer),
  } satisfies Record<(typeof ORDER_PARTNERS)[number], object>;
}

/** What workflows know of the activities: types only, never the code. */
export type PartnerActivities = ReturnType<typeof partnerActivities>;
