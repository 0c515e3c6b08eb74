import { approvalNeeded, chargeNeeded } from '../../core/decisions.ts';
import { creditVerdict, screeningVerdict } from '../../core/decisions.ts';
import { StepFailure } from '../../core/failures.ts';
import { businessKey, effectKey, type EffectOf } from '../../core/identity.ts';
import { formatMoney, type Money } from '../../core/order/money.ts';
import { orderIdOf, type RunInput } from '../../core/order/run-input.ts';
import { totals } from '../../core/order/totals.ts';
import type { Step } from '../../core/steps.ts';
import type { Call, Partners } from '../../partners/contract.ts';

/** The whole run, as it travels: the message is the checkpoint. */
export interface Link {
  step: Exclude<Step, 'validate'> | 'undo';
  input: RunInput;
  payable?: Money;
  supplierOrderId?: string;
}

/** The next message, or undefined at the end. */
export type Next = { body: Link; delayMs?: number } | undefined;

/** As long as a queue delays; a date weeks ahead is passed on every 15 minutes, for weeks. */
export const LONGEST_DELAY_MS = 900_000;

/** One link of the chain: does its step and says which message comes next. Throws StepFailure. */
export async function follow(link: Link, partners: Partners): Promise<Next> {
  const { input, supplierOrderId } = link;
  const { order, policy, chargeAt, revision } = input;
  const { lines, supplierId, currency, buyer } = order;
  const id = orderIdOf(order);
  const reference = businessKey(id);
  const keyOf = (step: EffectOf['step']) => effectKey(id, { revision, step });
  const call: Call = { timeoutMs: policy.partnerTimeoutMs };
  const goods = lines.map(({ sku, quantity }) => ({ sku, quantity }));
  const amount = link.payable ?? { currency, minor: 0 };
  const to = (step: Link['step'], found: Partial<Link> = {}): Next => ({
    body: { ...link, ...found, step },
  });
  switch (link.step) {
    case 'price': {
      // The join is this loop: when the worker dies at line 239, all 240 are asked again.
      const prices = new Map<string, string>();
      for (let at = 0; at < lines.length; at += policy.fanOut) {
        const some = lines.slice(at, at + policy.fanOut);
        const asked = some.map(async ({ lineId, sku, unitPrice }) => {
          const line = { supplierId, sku, currency, ...(unitPrice && { unitPrice }) };
          prices.set(lineId, (await partners.supplier.quote(line, call)).unitPrice);
        });
        await Promise.all(asked);
      }
      return to('credit', { payable: totals(order, prices).payable });
    }
    case 'credit': {
      const enquiry = { key: keyOf('credit'), reference, buyerId: buyer.id, amount };
      const { score } = await partners.bureau.enquire(enquiry, call);
      const verdict = creditVerdict(score, policy);
      if (verdict.kind === 'refused') throw new StepFailure('refused', 'credit', verdict.reason);
      return to('screen');
    }
    case 'screen': {
      const screening = { key: keyOf('screen'), reference, buyerId: buyer.id, name: buyer.name };
      const { listed } = await partners.bureau.screen(screening, call);
      const verdict = screeningVerdict(listed);
      if (verdict.kind === 'refused') throw new StepFailure('refused', 'listed', verdict.reason);
      return to('reserve');
    }
    case 'reserve':
      await partners.warehouse.reserve({ key: keyOf('reserve'), reference, lines: goods }, call);
      return to('approve');
    case 'approve':
      if (!approvalNeeded(amount, policy)) return to('charge');
      throw new StepFailure('never', 'needs-a-person', 'a chain has nowhere to wait for a person');
    case 'charge': {
      const wait = chargeAt === undefined ? 0 : Date.parse(chargeAt) - Date.now();
      if (wait > 0) return { body: link, delayMs: Math.min(wait, LONGEST_DELAY_MS) };
      const charge = { key: keyOf('charge'), reference, amount };
      if (chargeNeeded(amount)) await partners.payments.charge(charge, call);
      return to('place');
    }
    case 'place': {
      // No key and no ledger: sent again after a lost answer, this is a second order.
      const items = lines.map(({ sku, quantity, unit }) => ({ sku, quantity, unit }));
      const placing = { supplierId, reference, supplierReference: keyOf('place'), lines: items };
      return to('invoice', await partners.supplier.place(placing, call));
    }
    case 'invoice': {
      const subject = `Invoice for your order ${id.orderRef}`;
      const text = `The amount of ${formatMoney(amount)} has been charged.`;
      const mail = { messageId: keyOf('invoice'), reference, to: buyer.email, subject, text };
      await partners.mailer.send(mail, call);
      return to('close');
    }
    case 'close':
      return undefined;
    case 'undo': {
      if (supplierOrderId) {
        await partners.supplier.cancel({ supplierId, supplierOrderId, reference }, call);
      }
      const refund = { key: keyOf('refund'), reference, chargeKey: keyOf('charge') };
      await partners.payments.refund(refund, call);
      const release = { key: keyOf('release'), reference, reservationKey: keyOf('reserve') };
      await partners.warehouse.release(release, call);
      return undefined;
    }
    default:
      return link.step satisfies never;
  }
}
