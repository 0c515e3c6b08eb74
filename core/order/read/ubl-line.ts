import { currencyDigits } from '../currency.ts';
import { isDecimal } from '../decimal.ts';
import { AmountTooLarge, Exact, formatMoney, toDecimal } from '../money.ts';
import type { Money } from '../money.ts';
import { quote } from '../quote.ts';
import { lineAmount } from '../totals.ts';
import { checkCurrency, find, textOf, xsdDecimal } from './reading.ts';
import type { Reading } from './reading.ts';
import { takeAdjustments, takeAmount } from './ubl-amounts.ts';
import type { Adjustment } from './ubl-amounts.ts';
import { pathOf } from './xml.ts';
import type { XmlElement } from './xml.ts';

/** What a line says, still unchecked: any text, or none. */
interface RawLine {
  lineId: string | undefined;
  sku: string | undefined;
  name: string | undefined;
  quantity: string | undefined;
  unit: string | undefined;
  unitPrice: string | undefined;
  priceQuantity: string | undefined;
  adjustments: Adjustment[];
}

/** One LineItem as a line of an order. `field` is its place in the order, `lines[3]`. */
export function takeLine(
  reading: Reading,
  field: string,
  item: XmlElement,
  currency: string | undefined,
): RawLine {
  reading.note(field, pathOf(item));
  const take = (name: string, path: string) => reading.take(`${field}.${name}`, item, path);
  checkPriceUnit(reading, item);
  reading.note(`${field}.unit`, `${pathOf(item)}/Quantity/@unitCode`);
  const line = {
    lineId: take('lineId', 'ID'),
    sku: takeFirst(reading, `${field}.sku`, item, SKU_SOURCES),
    name: takeFirst(reading, `${field}.name`, item, ['Item/Name', 'Item/Description']),
    quantity: xsdDecimal(take('quantity', 'Quantity')),
    unit: find(item, 'Quantity')?.attributes.get('unitCode'),
    unitPrice: takeAmount(reading, `${field}.unitPrice`, item, 'Price/PriceAmount', currency),
    priceQuantity: xsdDecimal(take('priceQuantity', 'Price/BaseQuantity')),
    adjustments: takeAdjustments(reading, `${field}.adjustments`, item, currency),
  };
  const difference = lineDifference(reading, item, line, currency);
  return difference ? { ...line, adjustments: [...line.adjustments, difference] } : line;
}

/** The supplier's own number first: its catalogue is asked by it. An item ordered in free text is known by its name only. */
const SKU_SOURCES = [
  'Item/SellersItemIdentification/ID',
  'Item/StandardItemIdentification/ID',
  'Item/BuyersItemIdentification/ID',
  'Item/Name',
];

/** The text of the first of `paths` that has one. Where none has, a fault points at the first. */
export function takeFirst(
  reading: Reading,
  field: string,
  element: XmlElement,
  paths: readonly string[],
): string | undefined {
  const [preferred = ''] = paths;
  const path = paths.find((candidate) => textOf(find(element, candidate)) !== undefined);
  return reading.take(field, element, path ?? preferred);
}

/** A price per dozen for a quantity in pieces can't be computed without knowing both units. */
function checkPriceUnit(reading: Reading, item: XmlElement): void {
  const base = find(item, 'Price/BaseQuantity');
  const baseUnit = base?.attributes.get('unitCode');
  const unit = find(item, 'Quantity')?.attributes.get('unitCode');
  if (!base || baseUnit === undefined || unit === undefined || baseUnit === unit) return;
  reading.faults.push({
    path: `${pathOf(base)}/@unitCode`,
    message: `is ${quote(baseUnit)}, but the line's quantity is in ${quote(unit)}`,
    hint: 'state the price for a quantity in the same unit',
  });
}

/** What PEPPOL lets a line's stated net amount differ from quantity × price, in major units (rule PEPPOL-T01-R024). */
const LINE_SLACK = '0.02';

/**
 * The buyer's own rounding of a line as an adjustment of the line, so that the order comes to what
 * the buyer stated and every cent of it is accounted for. A larger difference is a fault: it means
 * that the price is meant in another way than it was read.
 */
function lineDifference(
  reading: Reading,
  item: XmlElement,
  line: RawLine,
  currency: string | undefined,
): Adjustment | undefined {
  const element = find(item, 'LineExtensionAmount');
  checkCurrency(reading, element, currency);
  const stated = xsdDecimal(textOf(element));
  const net = netOf(line, currency);
  if (!element || stated === undefined || net === undefined || currency === undefined) {
    return undefined;
  }
  const difference = isDecimal(stated) ? new Exact(stated).minus(toDecimal(net)) : undefined;
  if (difference?.eq(0)) return undefined;
  if (difference?.abs().lte(LINE_SLACK)) {
    return { amount: difference.toString(), reason: 'rounding of the stated line amount' };
  }
  reading.fault(
    element,
    `says ${quote(stated)}, but the line comes to ${formatMoney(net)}`,
    "quantity × price / BaseQuantity ± the line's allowances and charges must give it",
  );
  return undefined;
}

/** What the line comes to; undefined while it has no price, or faults that the schema will name. */
function netOf(line: RawLine, currency: string | undefined): Money | undefined {
  const { quantity, unitPrice, priceQuantity = '1', adjustments } = line;
  const known = currency !== undefined && currencyDigits(currency) !== undefined;
  if (!known || !isDecimal(quantity) || !isDecimal(unitPrice) || !isDecimal(priceQuantity)) {
    return undefined;
  }
  const amounts = adjustments.map(({ amount }) => amount);
  if (!amounts.every(isDecimal) || new Exact(priceQuantity).eq(0)) return undefined;
  const adjusted = amounts.map((amount) => ({ amount, reason: '' }));
  const computable = { quantity, priceQuantity, adjustments: adjusted };
  try {
    return { currency, minor: lineAmount(computable, unitPrice, currency) };
  } catch (error) {
    if (error instanceof AmountTooLarge) return undefined;
    throw error;
  }
}
