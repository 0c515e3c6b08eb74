import type { ReceiptAnswer } from './contract.ts';
import { checkQueue, checkVisibility, LimitError } from './limits.ts';
import { readReceipt } from './receipt.ts';
import { run, type Session, type Statement } from './session.ts';

/*
 * From now on, not from the old expiry. Whether the delivery would be held for longer than the
 * profile allows is judged in the same statement, by the database's clock; then nothing changes.
 */
const extendOne: Statement = {
  name: 'q2t_extend',
  text: `
    UPDATE queue.message
    SET visible_at = CASE
      WHEN statement_timestamp() + $4::float8 * interval '1 ms'
        > claimed_at + $5::float8 * interval '1 ms' THEN visible_at
      ELSE statement_timestamp() + $4::float8 * interval '1 ms' END
    WHERE id = $1 AND receipt = $2 AND queue = $3
    RETURNING statement_timestamp() + $4::float8 * interval '1 ms'
      > claimed_at + $5::float8 * interval '1 ms' AS "heldTooLong"`,
};

export async function extend(
  session: Session,
  queue: string,
  receipt: string,
  visibilityMs: number,
): Promise<ReceiptAnswer> {
  checkQueue(queue);
  checkVisibility(session.limits, visibilityMs);
  const parsed = readReceipt(receipt);
  if (parsed === null) return 'stale';
  const { maxVisibilityMs, profile } = session.limits;
  const values = [parsed.id, parsed.delivery, queue, visibilityMs, maxVisibilityMs];
  const [row] = await run<{ heldTooLong: boolean }>(session, session.pool, extendOne, values);
  if (row === undefined) return 'stale';
  if (row.heldTooLong) {
    const problem = `of ${visibilityMs} would hold the delivery for more than ${maxVisibilityMs} ms`;
    const fix = `the ${profile} profile counts from the receive: hand the message back`;
    throw new LimitError('visibilityMs', problem, fix);
  }
  return 'ok';
}
