import { z } from 'zod';
import { PARTNER_NAMES } from '../partners/contract.ts';
import type { PartnerName } from '../partners/contract.ts';

/** Requests (on Temporal: activities) a second that all workers together may begin at a partner. */
export type Rates = Record<PartnerName, number>;

/** Far above what two cores get through, so that they bound a flood and slow no order: decision 0146. */
export const defaultRates: Rates = {
  payments: 100,
  bureau: 100,
  warehouse: 100,
  // A line is an activity here.
  supplier: 500,
  mailer: 100,
  finance: 100,
  // A provider's own limit is far below: it answers 429 and says when to come back.
  model: 20,
};

/** `payments=50,supplier=100`. Faults name the entry and what it should be. */
export const namedRates = z.string().transform((text, context): Partial<Rates> => {
  const rates: Partial<Rates> = {};
  const entries = text.split(',').map((entry) => entry.trim());
  for (const entry of entries.filter((each) => each !== '')) {
    const fault = take(entry, rates);
    if (fault !== undefined) context.addIssue(`${JSON.stringify(entry)}: ${fault}`);
  }
  return rates;
});

/** What is not named keeps its default. */
export const ratesSetting = namedRates.transform((rates): Rates => ({ ...defaultRates, ...rates }));

function take(entry: string, rates: Partial<Rates>): string | undefined {
  const [name = '', value = '', ...rest] = entry.split('=').map((part) => part.trim());
  const partner = PARTNER_NAMES.find((known) => known === name);
  if (!partner) return `no partner of that name; there are ${PARTNER_NAMES.join(', ')}`;
  if (rates[partner] !== undefined) return `${partner} has a rate already`;
  const rate = Number(value);
  // The engine takes zero for "no limit", the opposite of what it says.
  if (rest.length > 0 || value === '' || !Number.isFinite(rate) || rate <= 0) {
    return `the rate is a number above 0, per second: ${partner}=50`;
  }
  rates[partner] = rate;
  return undefined;
}
