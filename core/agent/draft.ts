import { canonicalDecimal } from '../order/decimal.ts';
import { formatMoney } from '../order/money.ts';
import { quote } from '../order/quote.ts';
import type { Order, OrderLine } from '../order/schema.ts';
import { checkTotals } from '../order/totals.ts';
import { orderIdOfRequest, requestIdOf } from './identity.ts';
import type { AgentRequest } from './request.ts';
import type { Draft, Facts, KnownQuote } from './state.ts';
import type { Use } from './uses.ts';

type DraftResult =
  { ok: true; draft: Pick<Draft, 'order' | 'payable'> } | { ok: false; error: string };

/**
 * The order that the model asks for, made of what suppliers quoted and not of what the model says they
 * did; or, for the model, why it can't be. That finance has the money is asked here too, whatever the
 * prompt says.
 */
export function draftOf(
  request: AgentRequest,
  facts: Facts,
  { supplierId, lines }: Use<'submit'>,
): DraftResult {
  const quotes = lines.map(({ sku }) => quoteOf(facts, supplierId, sku));
  const missing = lines.find((_, index) => !quotes[index]);
  if (missing) {
    const article = `${quote(missing.sku)} of supplier ${quote(supplierId)}`;
    return { ok: false, error: `nobody has quoted ${article}: get a quote first` };
  }
  const order = orderOf(
    request,
    supplierId,
    lines.map(({ quantity }, index) => {
      // None is missing.
      const { sku, name, unit, unitPrice } = quotes[index] as KnownQuote;
      const lineId = String(index + 1);
      return { lineId, sku, name, quantity: canonicalDecimal(quantity), unit, unitPrice };
    }),
  );
  const prices = Object.fromEntries(order.lines.map((line) => [line.lineId, line.unitPrice ?? '']));
  const totals = checkTotals(order, prices);
  if (!totals.ok) return { ok: false, error: `the order ${totals.fault.message}` };
  const { payable } = totals.totals;
  if (!facts.available) return { ok: false, error: 'check the budget first' };
  if (payable.minor > facts.available.minor) {
    const there = formatMoney(facts.available);
    return { ok: false, error: `it comes to ${formatMoney(payable)}; the budget has ${there}` };
  }
  return { ok: true, draft: { order, payable } };
}

function orderOf(request: AgentRequest, supplierId: string, lines: OrderLine[]): Order {
  const { buyer, currency } = request;
  const { orderRef } = orderIdOfRequest(requestIdOf(request));
  return { orderRef, buyer, supplierId, currency, lines };
}

function quoteOf({ quotes }: Facts, supplierId: string, sku: string): KnownQuote | undefined {
  return quotes.find((each) => each.supplierId === supplierId && each.sku === sku);
}
