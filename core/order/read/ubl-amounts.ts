import { Exact } from '../money.ts';
import { isDecimal } from '../decimal.ts';
import { checkCurrency, childrenOf, find, textOf, xsdDecimal } from './reading.ts';
import type { Reading } from './reading.ts';
import { pathOf } from './xml.ts';
import type { XmlElement } from './xml.ts';

/** The amount at `path` for the order's `field`, in the document's currency. */
export function takeAmount(
  reading: Reading,
  field: string,
  element: XmlElement,
  path: string,
  currency: string | undefined,
): string | undefined {
  checkCurrency(reading, find(element, path), currency);
  return xsdDecimal(reading.take(field, element, path));
}

/** An allowance (negative) or a charge, still unchecked. */
export interface Adjustment {
  amount: string | undefined;
  reason: string;
}

/**
 * The allowances (discounts) and charges directly under `owner`, which is the order or a line. Those
 * inside `Price` are not asked for: PriceAmount is net of them already.
 */
export function takeAdjustments(
  reading: Reading,
  field: string,
  owner: XmlElement,
  currency: string | undefined,
): Adjustment[] {
  return childrenOf(owner, 'AllowanceCharge').map((element, index) => {
    const at = `${field}[${index}]`;
    reading.note(at, pathOf(element));
    const isCharge = chargeIndicator(reading, element);
    const reason =
      reading.take(`${at}.reason`, element, 'AllowanceChargeReason') ??
      textOf(find(element, 'AllowanceChargeReasonCode')) ??
      (isCharge ? 'charge' : 'allowance');
    const amount = takeAmount(reading, `${at}.amount`, element, 'Amount', currency);
    const negative = amount?.startsWith('-') === true;
    if (negative) {
      reading.fault(element, `has a negative Amount: ${amount}`, 'ChargeIndicator gives the sign');
    }
    return { amount: amount && !isCharge && !negative ? `-${amount}` : amount, reason };
  });
}

function chargeIndicator(reading: Reading, element: XmlElement): boolean {
  const indicator = find(element, 'ChargeIndicator');
  const text = textOf(indicator);
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  // Without it a discount can't be told from a surcharge: no default is safe.
  reading.fault(
    indicator ?? element,
    indicator ? 'is neither true nor false' : 'has no ChargeIndicator',
    'ChargeIndicator is "true" for a charge, "false" for an allowance',
  );
  return false;
}

/** The tax of all TaxTotals together (one for each kind of tax); undefined when there is none. */
export function takeTax(
  reading: Reading,
  order: XmlElement,
  currency: string | undefined,
): string | undefined {
  const totals = childrenOf(order, 'TaxTotal');
  const amounts = totals.map((total) => takeAmount(reading, 'tax', total, 'TaxAmount', currency));
  if (amounts.length < 2) return amounts[0];
  reading.note('tax', `${pathOf(order)}/TaxTotal`);
  // A part that is no decimal is handed on as the tax, so that the schema names what is wrong with it.
  const wrong = amounts.find((amount) => !isDecimal(amount));
  if (wrong !== undefined) return wrong;
  return amounts.reduce<string>((sum, part) => new Exact(sum).plus(part ?? '0').toString(), '0');
}
