import { StepFailure } from '../failures.ts';
import type { Fault } from './fault.ts';
import { AmountTooLarge, Exact, addMinor, formatMoney, toMinor } from './money.ts';
import type { Money } from './money.ts';
import type { Order, OrderLine } from './schema.ts';

/** What an order comes to, in minor units of its currency. `payable` is what gets charged. */
export interface Totals {
  /** Net amount of each line, its own adjustments included, in the order's order. */
  lines: { lineId: string; minor: number }[];
  goods: Money;
  /** Order-level discounts and charges together; a discount is negative. */
  adjustments: Money;
  tax: Money;
  prepaid: Money;
  rounding: Money;
  payable: Money;
}

/** Unit prices by line id: the buyer's own where stated, the supplier's where not. */
export type Prices = ReadonlyMap<string, string> | Readonly<Record<string, string>>;

export type TotalsResult = { ok: true; totals: Totals } | { ok: false; fault: Fault };

/**
 * payable = lines + adjustments + tax − prepaid + rounding. Every line is rounded by itself, as the
 * buyer's own invoice check does, so that the sum of what is shown is the sum.
 * A negative payable, one too large, and a stated total that differs are faults; zero is legal (and
 * nothing is charged). Used when an order comes in with all its prices, and again after pricing.
 */
export function checkTotals(order: Order, prices: Prices): TotalsResult {
  try {
    const totals = sum(order, prices);
    const fault = faultOf(order, totals);
    return fault ? { ok: false, fault } : { ok: true, totals };
  } catch (error) {
    if (!(error instanceof AmountTooLarge)) throw error;
    return {
      ok: false,
      fault: { path: 'lines', message: error.message, hint: 'split the order' },
    };
  }
}

/** `checkTotals` for a step: throws StepFailure (`refused`, code `total`) where that returns a fault. */
export function totals(order: Order, prices: Prices): Totals {
  const result = checkTotals(order, prices);
  if (result.ok) return result.totals;
  const { path, message } = result.fault;
  throw new StepFailure('refused', 'total', `${path} ${message}`);
}

function sum(order: Order, prices: Prices): Totals {
  const { currency } = order;
  const minor = (decimal: string | undefined) => toMinor(decimal ?? '0', currency);
  const add = (...amounts: number[]) => addMinor(currency, ...amounts);
  const asMoney = (amount: number): Money => ({ currency, minor: amount });

  const lines = order.lines.map((line) => ({
    lineId: line.lineId,
    minor: lineAmount(line, priceOf(line, prices), currency),
  }));
  const goods = add(...lines.map((line) => line.minor));
  const adjustments = adjustmentsOf(order, currency);
  const [tax, prepaid, rounding] = [minor(order.tax), minor(order.prepaid), minor(order.rounding)];
  return {
    lines,
    goods: asMoney(goods),
    adjustments: asMoney(adjustments),
    tax: asMoney(tax),
    prepaid: asMoney(prepaid),
    rounding: asMoney(rounding),
    payable: asMoney(add(goods, adjustments, tax, -prepaid, rounding)),
  };
}

/** Net amount of a line in minor units, its own adjustments included. Throws AmountTooLarge. */
export function lineAmount(
  line: Pick<OrderLine, 'quantity' | 'priceQuantity' | 'adjustments'>,
  unitPrice: string,
  currency: string,
): number {
  const net = new Exact(unitPrice).times(line.quantity).div(line.priceQuantity ?? '1');
  return addMinor(currency, toMinor(net, currency), adjustmentsOf(line, currency));
}

function adjustmentsOf({ adjustments = [] }: Pick<Order, 'adjustments'>, currency: string): number {
  return addMinor(currency, ...adjustments.map(({ amount }) => toMinor(amount, currency)));
}

function priceOf(line: OrderLine, prices: Prices): string {
  const unitPrice = isMap(prices) ? prices.get(line.lineId) : own(prices, line.lineId);
  if (unitPrice === undefined) {
    throw new StepFailure('never', 'price-missing', `line ${line.lineId} has no price yet`);
  }
  return unitPrice;
}

function isMap(prices: Prices): prices is ReadonlyMap<string, string> {
  return prices instanceof Map;
}

/** Line ids are the buyer's: one of them may well be called `constructor`. */
function own(prices: Readonly<Record<string, string>>, lineId: string): string | undefined {
  return Object.hasOwn(prices, lineId) ? prices[lineId] : undefined;
}

function faultOf(order: Order, { payable }: Totals): Fault | undefined {
  if (payable.minor < 0) {
    return {
      path: 'lines',
      message: `come to less than nothing: ${formatMoney(payable)}`,
      hint: 'check the discounts and the prepaid amount; a credit is not an order',
    };
  }
  if (order.statedTotal === undefined) return undefined;
  const stated = { currency: order.currency, minor: toMinor(order.statedTotal, order.currency) };
  if (stated.minor === payable.minor) return undefined;
  return {
    path: 'statedTotal',
    message: `says ${formatMoney(stated)}, but the order comes to ${formatMoney(payable)}`,
    hint: 'lines ± adjustments + tax − prepaid + rounding must give the stated total',
  };
}
