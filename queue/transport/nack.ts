import { afterCommit } from '../database.ts';
import type { Db, NackOptions, ReceiptAnswer } from './contract.ts';
import { checkDelay, checkQueue } from './limits.ts';
import { readReceipt } from './receipt.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * The receipt is cleared, so the one who hands a message back can't ack it afterwards by mistake.
 * An uncounted nack gives the receive back: the receipt, not the count, is what fences.
 */
const nackOne: Statement = {
  name: 'q2t_nack',
  text: `
    UPDATE queue.message
    SET visible_at = statement_timestamp() + $4::float8 * interval '1 ms',
        receipt = NULL,
        receives = receives - $6::int,
        attempts = queue.with_attempt(attempts, claimed_at, statement_timestamp(), $5)
    WHERE id = $1 AND receipt = $2 AND queue = $3
    RETURNING id`,
};

export async function nack(
  session: Session,
  queue: string,
  receipt: string,
  { delayMs, reason = 'handed back', uncounted = false }: NackOptions,
  db: Db = session.pool,
): Promise<ReceiptAnswer> {
  checkQueue(queue);
  checkDelay(session.limits, delayMs);
  const parsed = readReceipt(receipt);
  if (parsed === null) return 'stale';
  const values = [parsed.id, parsed.delivery, queue, delayMs, reason, uncounted ? 1 : 0];
  const changed = await run(session, db, nackOne, values);
  if (changed.length === 0) return 'stale';
  if (delayMs === 0) afterCommit(db, () => session.notifier.hint(queue));
  return 'ok';
}
