import { orderLimits } from '../../policy.ts';
import { boundFaults } from '../fault.ts';
import type { Fault } from '../fault.ts';
import { parseOrder } from '../parse.ts';
import { plain, quote } from '../quote.ts';
import type { ReadResult } from './read.ts';
import { ORDER_NAMESPACE, Reading, childrenOf, find } from './reading.ts';
import { takeAdjustments, takeAmount, takeTax } from './ubl-amounts.ts';
import { takeLine } from './ubl-line.ts';
import { takeBuyer, takePartyId } from './ubl-party.ts';
import { parseXml } from './xml.ts';
import type { XmlElement } from './xml.ts';

/**
 * A UBL 2 Order (PEPPOL BIS Ordering 3 is one) as an order. What the order has no field for
 * (addresses, delivery periods, notes, tax categories) is not carried over.
 */
export function readUblOrder(xml: string): ReadResult {
  const parsed = parseXml(xml);
  if (!parsed.ok) return { ok: false, faults: [parsed.fault] };
  const { root } = parsed;
  if (root.local !== 'Order' || root.uri !== ORDER_NAMESPACE) {
    const message = `is ${quote(root.local)} in ${plain(root.uri, 100) || 'no namespace'}`;
    const hint = `the root must be Order in ${ORDER_NAMESPACE}`;
    return refused([{ path: `/${root.local}`, message, hint }]);
  }
  const reading = new Reading();
  const taken = takeOrder(reading, root);
  // With something misunderstood on the way the total can't add up: that would be a second fault for the first.
  if (reading.faults.length > 0) delete taken['statedTotal'];
  const raw = withoutUndefined(taken);
  const result = parseOrder(raw);
  if (!result.ok) reading.faults.push(...result.faults.map((fault) => reading.located(fault)));
  if (!result.ok || reading.faults.length > 0) return refused(reading.faults);
  return { ok: true, orders: [result.order] };
}

function takeOrder(reading: Reading, order: XmlElement): Record<string, unknown> {
  reading.note('', '/Order');
  reading.note('lines', '/Order/OrderLine');
  const currency = reading.take('currency', order, 'DocumentCurrencyCode') ?? anyCurrency(order);
  const amount = (field: string, path: string) =>
    takeAmount(reading, field, order, `AnticipatedMonetaryTotal/${path}`, currency);
  return {
    orderRef: reading.take('orderRef', order, 'ID'),
    buyer: takeBuyer(reading, order),
    supplierId: takePartyId(reading, 'supplierId', order, 'SellerSupplierParty/Party'),
    currency,
    lines: takeLines(reading, order, currency),
    adjustments: takeAdjustments(reading, 'adjustments', order, currency),
    tax: takeTax(reading, order, currency),
    prepaid: amount('prepaid', 'PrepaidAmount'),
    rounding: amount('rounding', 'PayableRoundingAmount'),
    statedTotal: amount('statedTotal', 'PayableAmount'),
    chargeOn: takeDueDate(reading, order),
  };
}

/** The schema wants DocumentCurrencyCode only where amounts are; a document without it still says it at each amount. */
function anyCurrency(element: XmlElement): string | undefined {
  const own = element.attributes.get('currencyID');
  if (own !== undefined) return own.trim();
  for (const child of element.children) {
    const found = anyCurrency(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function takeLines(reading: Reading, order: XmlElement, currency: string | undefined): unknown[] {
  const items = lineItems(reading, order);
  // Too many are refused for their number: nobody needs them read first.
  if (items.length > orderLimits.maxLines) return items.map(() => ({}));
  return items.map((item, index) => takeLine(reading, `lines[${index}]`, item, currency));
}

function lineItems(reading: Reading, order: XmlElement): XmlElement[] {
  return childrenOf(order, 'OrderLine').flatMap((line) => {
    const item = find(line, 'LineItem');
    if (!item) reading.fault(line, 'has no LineItem', 'add one, or remove the line');
    return item ? [item] : [];
  });
}

/**
 * When to charge: only PaymentDueDate says that. A delivery period is about goods, a payment term's
 * note is prose. An XSD date may carry an offset (`2026-12-24+01:00`); the day is what is meant.
 */
function takeDueDate(reading: Reading, order: XmlElement): string | undefined {
  const dates = ['PaymentTerms', 'PaymentMeans']
    .flatMap((owner) => childrenOf(order, owner))
    .map((owner) => reading.take('chargeOn', owner, 'PaymentDueDate'))
    .map((date) => date?.replace(/(Z|[+-]\d{2}:\d{2})$/, ''))
    .filter((date) => date !== undefined);
  const distinct = [...new Set(dates)];
  if (distinct.length > 1) {
    const message = `has several due dates: ${distinct.map(quote).join(', ')}`;
    reading.fault(order, message, 'an order is charged once: leave one PaymentDueDate');
  }
  return distinct[0];
}

/** An absent element is an absent field. */
function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function refused(faults: readonly Fault[]): ReadResult {
  return { ok: false, faults: boundFaults(faults) };
}
