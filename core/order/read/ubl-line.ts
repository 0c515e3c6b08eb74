import { quote } from '../quote.ts';
import { find, textOf, xsdDecimal } from './reading.ts';
import type { Reading } from './reading.ts';
import { takeAdjustments, takeAmount } from './ubl-amounts.ts';
import { pathOf } from './xml.ts';
import type { XmlElement } from './xml.ts';

/** One LineItem as a line of an order, still unchecked. `field` is its place in the order, `lines[3]`. */
export function takeLine(
  reading: Reading,
  field: string,
  item: XmlElement,
  currency: string | undefined,
): Record<string, unknown> {
  reading.note(field, pathOf(item));
  const take = (name: string, path: string) => reading.take(`${field}.${name}`, item, path);
  checkPriceUnit(reading, item);
  reading.note(`${field}.unit`, `${pathOf(item)}/Quantity/@unitCode`);
  return {
    lineId: take('lineId', 'ID'),
    sku: takeFirst(reading, `${field}.sku`, item, SKU_SOURCES),
    name: takeFirst(reading, `${field}.name`, item, ['Item/Name', 'Item/Description']),
    quantity: xsdDecimal(take('quantity', 'Quantity')),
    unit: find(item, 'Quantity')?.attributes.get('unitCode'),
    unitPrice: takeAmount(reading, `${field}.unitPrice`, item, 'Price/PriceAmount', currency),
    priceQuantity: xsdDecimal(take('priceQuantity', 'Price/BaseQuantity')),
    adjustments: takeAdjustments(reading, `${field}.adjustments`, item, currency),
  };
}

/** The supplier's own number first: its catalogue is asked by it. */
const SKU_SOURCES = [
  'Item/SellersItemIdentification/ID',
  'Item/StandardItemIdentification/ID',
  'Item/BuyersItemIdentification/ID',
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
