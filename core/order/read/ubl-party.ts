import { find, textOf } from './reading.ts';
import type { Reading } from './reading.ts';
import { takeFirst } from './ubl-line.ts';
import type { XmlElement } from './xml.ts';

/** Who orders, still unchecked. */
export function takeBuyer(reading: Reading, order: XmlElement): Record<string, unknown> {
  reading.note('buyer', '/Order/BuyerCustomerParty/Party');
  reading.hintIfMissing('buyer.email', "add the buyer's contact: the invoice is mailed there");
  return {
    id: takePartyId(reading, 'buyer.id', order, 'BuyerCustomerParty/Party'),
    name: takeFirst(reading, 'buyer.name', order, [
      'BuyerCustomerParty/Party/PartyName/Name',
      'BuyerCustomerParty/Party/PartyLegalEntity/RegistrationName',
    ]),
    // The buyer's own contact, else whoever pays or asked. Not the delivery's: that may be a stranger,
    // who has no business with the invoice.
    email: takeFirst(reading, 'buyer.email', order, [
      'BuyerCustomerParty/Party/Contact/ElectronicMail',
      'BuyerCustomerParty/BuyerContact/ElectronicMail',
      'AccountingCustomerParty/Party/Contact/ElectronicMail',
      'OriginatorCustomerParty/Party/Contact/ElectronicMail',
    ]),
  };
}

/**
 * `scheme:id` of a party, its electronic address first: PEPPOL demands it of every party, and the
 * other identifiers may be shared (in PEPPOL's own example buyer and seller have one location number).
 * The scheme belongs to it, since two registers may both have a number 4711.
 */
export function takePartyId(
  reading: Reading,
  field: string,
  order: XmlElement,
  party: string,
): string | undefined {
  const paths = ['EndpointID', 'PartyIdentification/ID', 'PartyLegalEntity/CompanyID'].map(
    (path) => `${party}/${path}`,
  );
  const id = takeFirst(reading, field, order, paths);
  const source = paths
    .map((path) => find(order, path))
    .find((found) => textOf(found) !== undefined);
  const scheme = source?.attributes.get('schemeID')?.trim();
  return id !== undefined && scheme ? `${scheme}:${id}` : id;
}
