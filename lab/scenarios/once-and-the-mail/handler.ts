import type { ClientBase } from 'pg';
import { connect } from '../../../queue/connect.ts';
import { withTransaction } from '../../../queue/database.ts';
import type { ReceivedMessage } from '../../../queue/transport/contract.ts';
import type { HandlerJob } from './job.ts';

/**
 * The second reading's handler as a process: a key of the event, a marker with a unique constraint,
 * written in one transaction with the business row, and a mail. Runs until it is killed.
 */
const job = JSON.parse(process.env['Q2T_LAB_HANDLER'] ?? '') as HandlerJob;
const { pool, transport } = await connect(
  { url: job.databaseUrl, applicationName: 'handler', maxConnections: 6 },
  { profile: 'postgres', listen: true },
);
for (;;) {
  const options = { max: 4, visibilityMs: job.visibilityMs, waitMs: 1_000 };
  for (const message of await transport.receive(job.queue, options)) {
    // Not acked, it comes back.
    receive(message).catch(console.error);
  }
}

async function receive({ body, receipt }: ReceivedMessage): Promise<void> {
  await handle(body as { reference: string });
  await transport.ack(job.queue, receipt);
}

async function handle({ reference }: { reference: string }): Promise<void> {
  const key = `invoice:${reference}`;
  if (await processed(key)) return;
  if (job.mail === 'in the transaction') {
    await once(key, async (tx) => {
      await issueInvoice(tx, reference);
      await sendMail(key, reference);
    });
  } else {
    await once(key, (tx) => issueInvoice(tx, reference));
    await sendMail(key, reference);
  }
}

async function processed(key: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM lab_processed WHERE key = $1', [key]);
  return rowCount === 1;
}

/** The marker and whatever the callback writes, together or not at all. */
async function once(key: string, work: (tx: ClientBase) => Promise<void>): Promise<void> {
  await withTransaction(pool, async (tx) => {
    await tx.query('INSERT INTO lab_processed (key) VALUES ($1)', [key]);
    await work(tx);
  });
}

async function issueInvoice(tx: ClientBase, reference: string): Promise<void> {
  await tx.query('INSERT INTO lab_invoice (reference) VALUES ($1)', [reference]);
}

async function sendMail(messageId: string, reference: string): Promise<void> {
  const mail = { to: 'lab@example.org', subject: 'Your invoice', text: 'It has been issued.' };
  const answer = await fetch(new URL('/mailer/mails', job.partnersUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messageId, reference, ...mail }),
  });
  if (!answer.ok) throw new Error(`the mailer answered ${answer.status}`);
}
