import { Big } from 'big.js';
import { currencyDigits } from './currency.ts';

/** An amount in whole minor units of its currency (cents, yen, fils): a safe integer, never a fraction. */
export interface Money {
  currency: string;
  minor: number;
}

/**
 * Our own constructor, so that nobody else's settings of big.js reach our sums. Only division is
 * inexact: 40 places are more than any quotient of two bounded decimals needs to be told apart from
 * a half (the divisor has 18 digits at most), so rounding it once more to minor units is exact.
 */
export const Exact = Big();
Exact.DP = 40;
Exact.RM = Exact.roundHalfUp;
/** Never an exponent in `toString`. */
Exact.PE = 100;
Exact.NE = -100;

/** An amount that can't be held exactly. A RangeError: whoever takes numbers from outside checks first. */
export class AmountTooLarge extends RangeError {
  override readonly name = 'AmountTooLarge';
}

/**
 * `decimal` (major units) in minor units of `currency`, rounded half up, as invoices are (and as the
 * buyer's system did when it stated its total); banker's rounding would differ from it by a cent.
 * Throws AmountTooLarge beyond the safe integers, RangeError for a currency that has no minor units.
 */
export function toMinor(decimal: string | Big, currency: string): number {
  const minor = Number(new Exact(decimal).times(scaleOf(currency)).round(0).toString());
  return safe(minor, currency);
}

/** `toMinor` as Money. */
export function money(decimal: string, currency: string): Money {
  return { currency, minor: toMinor(decimal, currency) };
}

/** Adds minor units. Throws AmountTooLarge when the sum is no safe integer any more. */
export function addMinor(currency: string, ...amounts: readonly number[]): number {
  return safe(
    amounts.reduce((sum, amount) => safe(sum + amount, currency), 0),
    currency,
  );
}

/** The amount in major units with the currency's own number of decimals: `1234.50`, in yen `1234`. */
export function toDecimal({ minor, currency }: Money): string {
  return new Exact(minor).div(scaleOf(currency)).toFixed(digitsOf(currency));
}

/** For people and for messages: `EUR 1234.50`. No thousands separators, since half the world reads them as the decimal point. */
export function formatMoney(amount: Money): string {
  return `${amount.currency} ${toDecimal(amount)}`;
}

/** True when `decimal` is a whole number of minor units: `1.5` is in euros, and is not in yen. */
export function isWholeMinor(decimal: string, currency: string): boolean {
  const minor = new Exact(decimal).times(scaleOf(currency));
  return minor.eq(minor.round(0));
}

function scaleOf(currency: string): number {
  return 10 ** digitsOf(currency);
}

function digitsOf(currency: string): number {
  const digits = currencyDigits(currency);
  if (digits === undefined) throw new RangeError(`not a currency in use: ${currency}`);
  return digits;
}

function safe(minor: number, currency: string): number {
  if (Number.isSafeInteger(minor)) return minor === 0 ? 0 : minor; // no -0 in JSON or comparisons
  throw new AmountTooLarge(`an amount in ${currency} is too large to be held exactly`);
}
