import type { ClientBase } from 'pg';
import { StepFailure } from '../../core/failures.ts';
import { effectKey } from '../../core/identity.ts';
import { formatMoney } from '../../core/order/money.ts';
import type { Money } from '../../core/order/money.ts';
import { MAIL_QUEUE } from '../joins/children.ts';
import type { MailInput } from '../joins/children.ts';
import { readJoin, readOutcomes } from '../joins/read-join.ts';
import { startJoin } from '../joins/start-join.ts';
import type { Run } from '../runs/run.ts';
import { payableOf } from './payable.ts';
import type { StepCode } from './step.ts';

/**
 * Issues the invoice and has it mailed. The invoice's row, the mark that it is issued (its effect key)
 * and the mail in the outbox are one transaction, under the run's token; the mail is a child of its
 * own, so the mailer being down holds up this run alone.
 */
export const invoice: StepCode = async ({ id, run, input, db, transport }) => {
  const key = effectKey(id, { revision: run.revision, step: 'invoice' });
  const amount = payableOf(run);
  const join = await readJoin(db, key);
  if (!join) {
    return {
      kind: 'park',
      parkedFor: 'join',
      async write(tx) {
        const number = await issueInvoice(tx, run, key, amount);
        const mail: MailInput = {
          messageId: key,
          to: input.order.buyer.email,
          subject: `Invoice ${number} for your order ${id.orderRef}`,
          text: `Thank you for your order ${id.orderRef}. The amount of ${formatMoney(amount)} has been charged.`,
        };
        await startJoin(tx, transport, {
          joinId: key,
          runId: run.id,
          queue: MAIL_QUEUE,
          width: 1,
          children: [{ childId: number, input: mail }],
        });
      },
    };
  }
  if (!join.completed) return { kind: 'park', parkedFor: 'join' };
  const [sent] = await readOutcomes(db, key);
  if (!sent) throw new Error(`${key} is complete without an outcome`);
  const [number, outcome] = sent;
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'done', detail: number };
    case 'refused':
      throw new StepFailure('refused', 'mail', outcome.message);
    case 'failed':
      return { kind: 'give-up', reason: `${outcome.message} (${outcome.failureClass})` };
    default:
      return outcome satisfies never;
  }
};

/** The business row. Its key is its processed marker: a second one under it cannot be. */
async function issueInvoice(
  tx: ClientBase,
  run: Run,
  key: string,
  { currency, minor }: Money,
): Promise<string> {
  const { rows } = await tx.query<{ invoice_number: string }>(
    `INSERT INTO queue.invoice (effect_key, invoice_number, run_id, token, currency, amount_minor)
     SELECT $1, 'INV-' || to_char(nextval('queue.invoice_number'), 'FM000000000'), id, token, $3, $4
     FROM queue.run WHERE id = $2
     RETURNING invoice_number`,
    [key, run.id, currency, minor],
  );
  const [row] = rows;
  if (!row) throw new Error(`no invoice for ${run.id}`);
  return row.invoice_number;
}
