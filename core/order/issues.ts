import type { z } from 'zod';
import type { Fault } from './fault.ts';
import { closest } from './closest.ts';
import { quote, quoteKey } from './quote.ts';

/** zod's issue in our words, with the path as one would write it and a hint; unknown fields give one fault each. */
export function faultOfIssue(issue: z.core.$ZodIssue, input: unknown): Fault[] {
  const path = pathText(issue.path);
  switch (issue.code) {
    case 'custom':
      return [{ path, message: issue.message, hint: hintOf(issue.params) }];
    case 'invalid_type':
      return [{ path, ...typeFault(issue.expected, valueAt(input, issue.path)) }];
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: pathText([...issue.path, key]),
        message: 'is not a field of an order',
        hint: unknownFieldHint(key, issue.path),
      }));
    case 'too_small':
      return [{ path, message: 'is empty', hint: 'an order needs at least one line' }];
    case 'too_big':
      return [
        {
          path,
          message: `has ${lengthOf(valueAt(input, issue.path))} entries`,
          hint: `at most ${String(issue.maximum)}: split the order`,
        },
      ];
    default:
      return [{ path, message: issue.message, hint: 'see the example orders' }];
  }
}

/** `['lines', 3, 'quantity']` as `lines[3].quantity`. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${quoteKey(String(part))}`))
    .join('')
    .replace(/^\./, '');
}

function typeFault(expected: string, value: unknown): Omit<Fault, 'path'> {
  const wanted = { string: 'a string', object: 'an object', array: 'a list' }[expected] ?? expected;
  if (value === undefined) return { message: 'is missing', hint: `it must be ${wanted}` };
  const message = `must be ${wanted}, not ${kindOf(value)}`;
  if (expected === 'string' && typeof value === 'number') {
    // 0.1 is not a tenth and 12345678901234567890 is another number once JSON.parse has read it.
    return {
      message,
      hint: 'put it in quotes, such as "12.50": JSON numbers lose digits on the way',
    };
  }
  if (value === null) return { message, hint: 'leave the field out if it has no value' };
  return { message, hint: `write ${wanted}` };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const FIELDS = {
  order: [
    ...['orderRef', 'buyer', 'supplierId', 'currency', 'lines', 'adjustments', 'tax', 'prepaid'],
    ...['rounding', 'statedTotal', 'chargeOn', 'timeZone'],
  ],
  buyer: ['id', 'name', 'email'],
  line: [
    ...['lineId', 'sku', 'name', 'quantity', 'unit', 'unitPrice', 'priceQuantity', 'adjustments'],
  ],
  adjustment: ['amount', 'reason'],
} as const;

function unknownFieldHint(key: string, owner: readonly PropertyKey[]): string {
  const fields = FIELDS[ownerKind(owner)];
  const meant = closest(key, fields);
  return meant === undefined
    ? `remove ${quote(key)}; the fields here are ${fields.join(', ')}`
    : `did you mean "${meant}"?`;
}

function ownerKind(owner: readonly PropertyKey[]): keyof typeof FIELDS {
  if (owner.length === 0) return 'order';
  if (owner[0] === 'buyer') return 'buyer';
  return owner.includes('adjustments') ? 'adjustment' : 'line';
}

function hintOf(params: Record<string, unknown> | undefined): string {
  const hint = params?.['hint'];
  return typeof hint === 'string' ? hint : '';
}

function lengthOf(value: unknown): string {
  return Array.isArray(value) ? String(value.length) : 'too many';
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    input,
  );
}
