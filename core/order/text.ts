import { z } from 'zod';
import { MAX_ENCODED_ID_LENGTH, MAX_ID_LENGTH } from '../identity.ts';
import { currencyDigits } from './currency.ts';
import { canonicalDecimal, decimalFault } from './decimal.ts';
import { codePoint, quote } from './quote.ts';

/** What a rule says about a value that breaks it. */
type Rule = (text: string) => { message: string; hint: string } | undefined;

/** A string that is put into canonical form first and then meets its rules, in order, until one is broken. */
function ruled(canonical: (text: string) => string, ...rules: Rule[]) {
  return z
    .string()
    .overwrite(canonical)
    .superRefine((text, ctx) => {
      for (const rule of rules) {
        const broken = rule(text);
        if (!broken) continue;
        ctx.addIssue({
          code: 'custom',
          message: broken.message,
          params: { hint: broken.hint },
          input: text,
        });
        return;
      }
    });
}

/** NFC, so that the same name typed on two systems is the same text; trimmed. */
const canonicalText = (text: string) => text.normalize('NFC').trim();

// Control characters break logs, mails and terminals; direction overrides make text show as something
// else than it is. HTML is legal here and kept as it is: escaping is the business of whoever shows it.
const FORBIDDEN = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const INVISIBLE = /\p{Cf}/u;

const notEmpty: Rule = (text) =>
  text === '' ? { message: 'is empty', hint: 'write a value' } : undefined;

const harmless: Rule = (text) => {
  if (!text.isWellFormed()) {
    return { message: 'has half a character (a lone surrogate)', hint: 'send valid Unicode' };
  }
  const found = FORBIDDEN.exec(text)?.[0];
  return found === undefined
    ? undefined
    : { message: `has the control character ${codePoint(found)}`, hint: 'remove it' };
};

// In a name an invisible character can be meant (a joiner in Persian or in an emoji); in an
// identifier it would make two that look the same differ.
const visible: Rule = (text) => {
  const found = INVISIBLE.exec(text)?.[0];
  return found === undefined
    ? undefined
    : { message: `has the invisible character ${codePoint(found)}`, hint: 'remove it' };
};

const atMost =
  (max: number): Rule =>
  (text) =>
    text.length > max
      ? { message: `is ${text.length} characters long`, hint: `at most ${max}` }
      : undefined;

/** Text for people: names and reasons. */
export const text = (max: number) => ruled(canonicalText, notEmpty, harmless, atMost(max));

/** Text that identifies something. */
export const identifier = (max = MAX_ID_LENGTH) =>
  ruled(canonicalText, notEmpty, harmless, visible, atMost(max));

/** A part of an order's identity: it becomes part of ids whose length others limit. */
export const orderIdentifier = ruled(
  canonicalText,
  notEmpty,
  harmless,
  visible,
  atMost(MAX_ID_LENGTH),
  (text) => {
    const { length } = encodeURIComponent(text);
    return length <= MAX_ENCODED_ID_LENGTH
      ? undefined
      : {
          message: `is ${length} characters long when percent-encoded`,
          hint: `at most ${MAX_ENCODED_ID_LENGTH}; letters outside A to Z take six or more each`,
        };
  },
);

/** One address: no spaces, brackets or list separators, so that it can't become two in a mail header. */
export const email = ruled(canonicalText, notEmpty, harmless, visible, atMost(254), (value) =>
  /^[^\s@<>()[\]"',;:\\]+@[^\s@<>()[\]"',;:\\.]+(\.[^\s@<>()[\]"',;:\\.]+)+$/u.test(value)
    ? undefined
    : { message: `is not an email address: ${quote(value)}`, hint: 'such as name@example.com' },
);

type Sign = 'any' | 'not-negative' | 'positive';

/** An exact decimal as a string, in canonical form. */
export const decimal = (sign: Sign) =>
  ruled(
    (value) => canonicalDecimal(value.trim()),
    decimalFault,
    (value) => {
      if (sign === 'positive' && (value === '0' || value.startsWith('-'))) {
        return { message: `must be more than zero, is ${value}`, hint: 'write a positive decimal' };
      }
      return sign === 'not-negative' && value.startsWith('-')
        ? { message: `must not be negative, is ${value}`, hint: 'write zero or more' }
        : undefined;
    },
  );

/** An ISO 4217 code in use. */
export const currencyCode = ruled(canonicalText, notEmpty, (code) => {
  if (currencyDigits(code) !== undefined) return undefined;
  const upper = code.toUpperCase();
  return {
    message: `is not a currency in use: ${quote(code)}`,
    hint:
      currencyDigits(upper) === undefined
        ? 'an ISO 4217 code people pay with, such as "EUR"'
        : `did you mean "${upper}"?`,
  };
});

/** A date that exists, `YYYY-MM-DD`. */
export const calendarDate = ruled(canonicalText, (value) => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  // An impossible day rolls over into the next month, so it doesn't come back the same.
  const date = parts && new Date(`${value}T00:00:00Z`);
  const real = date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
  return real
    ? undefined
    : { message: `is not a calendar date: ${quote(value)}`, hint: 'such as "2026-12-24"' };
});

/** The shape of an IANA name only: whether the zone exists is asked at the edge, since workflows have no zone data. */
export const zoneName = ruled(canonicalText, (value) =>
  /^(UTC|[A-Za-z][A-Za-z_]*(\/[A-Za-z0-9_+-]+){1,2})$/.test(value) && value.length <= 64
    ? undefined
    : {
        message: `is not an IANA time zone name: ${quote(value)}`,
        hint: 'such as "Europe/Amsterdam"',
      },
);
