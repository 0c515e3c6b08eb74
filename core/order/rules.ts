import type { z } from 'zod';
import { currencyDigits } from './currency.ts';
import { isDecimal } from './decimal.ts';
import { isWholeMinor } from './money.ts';
import { quote } from './quote.ts';
import type { Order } from './schema.ts';
import { checkTotals } from './totals.ts';

// The rules that need more than one field. The first two run beside other faults, on values that may
// be of any type yet, so that one answer names everything.

export function refuseDuplicateLines(lines: unknown[], ctx: z.RefinementCtx<unknown[]>): void {
  const seen = new Map<string, number>();
  lines.forEach((line, index) => {
    const lineId = isRecord(line) ? line['lineId'] : undefined;
    if (typeof lineId !== 'string') return;
    const first = seen.get(lineId);
    if (first === undefined) {
      seen.set(lineId, index);
      return;
    }
    ctx.addIssue({
      code: 'custom',
      path: [index, 'lineId'],
      message: `is used twice: lines[${first}] has ${quote(lineId)} too`,
      params: { hint: 'give every line an id of its own' },
    });
  });
}

/** Amounts (unlike prices) are money that changes hands, which nobody can pay in fractions of a cent. */
export function refuseFractionsOfMinorUnits(order: unknown, ctx: z.RefinementCtx): void {
  if (!isRecord(order) || typeof order['currency'] !== 'string') return;
  const currency = order['currency'];
  const digits = currencyDigits(currency);
  if (digits === undefined) return;
  for (const { path, amount } of amountsOf(order)) {
    if (!isDecimal(amount) || isWholeMinor(amount, currency)) continue;
    ctx.addIssue({
      code: 'custom',
      path,
      message: `has more decimals than ${currency} has: ${amount}`,
      params: { hint: digits === 0 ? 'write a whole number' : `at most ${digits} decimals` },
    });
  }
}

function* amountsOf(order: Record<string, unknown>) {
  for (const field of ['tax', 'prepaid', 'rounding', 'statedTotal']) {
    yield { path: [field], amount: order[field] };
  }
  yield* adjustmentAmounts(order, []);
  for (const [index, line] of listOf(order['lines']).entries()) {
    yield* adjustmentAmounts(line, ['lines', index]);
  }
}

function* adjustmentAmounts(owner: unknown, path: (string | number)[]) {
  if (!isRecord(owner)) return;
  for (const [index, entry] of listOf(owner['adjustments']).entries()) {
    const amount = isRecord(entry) ? entry['amount'] : undefined;
    yield { path: [...path, 'adjustments', index, 'amount'], amount };
  }
}

/** Only with all prices there can the sum be known now; otherwise the same check follows the pricing. */
export function refuseWrongTotals(order: Order, ctx: z.RefinementCtx<Order>): void {
  const prices = new Map(order.lines.map((line) => [line.lineId, line.unitPrice ?? '']));
  if ([...prices.values()].includes('')) return;
  const result = checkTotals(order, prices);
  if (result.ok) return;
  ctx.addIssue({
    code: 'custom',
    path: [result.fault.path],
    message: result.fault.message,
    params: { hint: result.fault.hint },
  });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
