import type { Db, ReceiptAnswer } from './contract.ts';
import { checkQueue } from './limits.ts';
import { readReceipt } from './receipt.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * By receipt, not by id alone: a consumer that outlived its visibility must not delete a message
 * that another one is working on. Not by time: as long as nobody else has received it, a late ack
 * is still the truth about the message.
 */
const ackOne: Statement = {
  name: 'q2t_ack',
  text: 'DELETE FROM queue.message WHERE id = $1 AND receipt = $2 AND queue = $3 RETURNING id',
};

export async function ack(
  session: Session,
  queue: string,
  receipt: string,
  db: Db = session.pool,
): Promise<ReceiptAnswer> {
  checkQueue(queue);
  const parsed = readReceipt(receipt);
  if (parsed === null) return 'stale';
  const deleted = await run(session, db, ackOne, [parsed.id, parsed.delivery, queue]);
  return deleted.length === 1 ? 'ok' : 'stale';
}

const ackAll: Statement = {
  name: 'q2t_ack_many',
  text: `
    DELETE FROM queue.message AS m
    USING unnest($1::bigint[], $2::uuid[]) AS acked (id, receipt)
    WHERE m.id = acked.id AND m.receipt = acked.receipt AND m.queue = $3
    RETURNING m.receipt`,
};

export async function ackMany(
  session: Session,
  queue: string,
  receipts: string[],
  db: Db = session.pool,
): Promise<ReceiptAnswer[]> {
  checkQueue(queue);
  if (receipts.length === 0) return [];
  const parsed = receipts.map(readReceipt);
  const known = parsed.filter((receipt) => receipt !== null);
  const ids = known.map((receipt) => receipt.id);
  const deliveries = known.map((receipt) => receipt.delivery);
  const rows = await run<{ receipt: string }>(session, db, ackAll, [ids, deliveries, queue]);
  const deleted = new Set(rows.map((row) => row.receipt));
  return parsed.map((receipt) =>
    receipt !== null && deleted.has(receipt.delivery) ? 'ok' : 'stale',
  );
}
