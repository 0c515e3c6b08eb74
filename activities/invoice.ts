import { businessKey, effectKey } from '../core/identity.ts';
import type { Money } from '../core/order/money.ts';
import type { Mailer } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';
import type { Invoices } from './invoices.ts';

export interface InvoiceInput extends StepCall {
  amount: Money;
  /** The same amount for a reader: `28.75 EUR`. */
  amountText: string;
  to: string;
}

export function invoiceActivities(invoices: Invoices, mailer: Mailer) {
  return {
    /**
     * Issues the invoice and mails it; returns its number. The row carries the effect key as its
     * processed marker, so both are written in one transaction. The mailer takes no keys: ask first.
     */
    invoice: (input: InvoiceInput): Promise<string> =>
      attempt(input, async ({ effect, read, settle }) => {
        const { id, revision, amount, amountText, to } = input;
        const messageId = effectKey(id, { revision, step: 'invoice' });
        const { invoiceNumber } = await invoices.issue({ effectKey: messageId, id, amount });
        await settle();
        const sent = await mailer.find({ messageId }, read);
        if (sent.length > 0) return invoiceNumber;
        const subject = `Invoice ${invoiceNumber} for your order ${id.orderRef}`;
        const text = `Thank you for your order ${id.orderRef}. The amount of ${amountText} has been charged.`;
        await mailer.send({ messageId, reference: businessKey(id), to, subject, text }, effect());
        return invoiceNumber;
      }),
  };
}
