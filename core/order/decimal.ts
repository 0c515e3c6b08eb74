import { Exact } from './money.ts';
import { quote } from './quote.ts';

/** Digits a decimal may have before and after the point. Products of two stay far inside what is exact. */
export const MAX_WHOLE_DIGITS = 12;
export const MAX_DECIMALS = 6;

const SHAPE = new RegExp(`^-?\\d{1,${MAX_WHOLE_DIGITS}}(\\.\\d{1,${MAX_DECIMALS}})?$`);

export function isDecimal(text: unknown): text is string {
  return typeof text === 'string' && SHAPE.test(text);
}

/** Without superfluous zeros: `010.50` is `10.5`, `-0` is `0`. Text that is no decimal comes back as it is. */
export function canonicalDecimal(text: string): string {
  if (!isDecimal(text)) return text;
  const plain = new Exact(text).toString();
  return plain === '-0' ? '0' : plain;
}

/** What is wrong with a text that should be a decimal, and what to write instead; undefined when nothing is. */
export function decimalFault(text: string): { message: string; hint: string } | undefined {
  if (SHAPE.test(text)) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    return {
      message: `has too many digits`,
      hint: `at most ${MAX_WHOLE_DIGITS} digits before the point and ${MAX_DECIMALS} after it`,
    };
  }
  if (text.includes(',')) {
    return {
      message: `is not a decimal: ${quote(text)}`,
      hint: 'the decimal sign is a point, without thousands separators: "1234.50"',
    };
  }
  return {
    message: text === '' ? 'is empty' : `is not a decimal: ${quote(text)}`,
    hint: 'digits with at most one point, such as "12.50" (no exponent, no sign but "-")',
  };
}
