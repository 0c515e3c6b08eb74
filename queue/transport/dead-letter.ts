import type { Attempt, Db, DeadMessage, ReceiptAnswer, ReceivedMessage } from './contract.ts';
import { checkMessageIds, checkPage, checkQueue } from './limits.ts';
import { readReceipt } from './receipt.ts';
import { run, type Session, type Statement } from './session.ts';

/* One statement: a message is in its queue or among the dead, never in both and never in neither. */
const buryHeld: Statement = {
  name: 'q2t_dead_letter',
  text: `
    WITH gone AS (
      DELETE FROM queue.message AS m
      USING unnest($1::bigint[], $2::uuid[]) AS held (id, receipt)
      WHERE m.id = held.id AND m.receipt = held.receipt AND m.queue = $3
      RETURNING m.*
    )
    INSERT INTO queue.dead_message
      (id, sent_at, dead_at, receives, queue, key, reason, body, attempts)
    SELECT id, sent_at, statement_timestamp(), least(receives, $5), queue, key, $4, body,
      CASE WHEN receives > $5 THEN attempts
        ELSE queue.with_attempt(attempts, claimed_at, statement_timestamp(), $4) END
    FROM gone
    RETURNING id`,
};

/** The consumer gives up on the message it holds. */
export async function deadLetter(
  session: Session,
  queue: string,
  receipt: string,
  reason: string,
  db: Db = session.pool,
): Promise<ReceiptAnswer> {
  checkQueue(queue);
  const parsed = readReceipt(receipt);
  if (parsed === null) return 'stale';
  const values = [[parsed.id], [parsed.delivery], queue, reason, session.maxReceives];
  const buried = await run(session, db, buryHeld, values);
  return buried.length === 1 ? 'ok' : 'stale';
}

/**
 * Messages that were claimed once more than they may. That last claim was never delivered, so it
 * neither counts nor shows in the history. If the process dies before this, the next claim buries them.
 */
export async function buryMany(
  session: Session,
  queue: string,
  spent: ReceivedMessage[],
): Promise<void> {
  const held = spent.map((message) => readReceipt(message.receipt)).filter((r) => r !== null);
  const ids = held.map((receipt) => receipt.id);
  const deliveries = held.map((receipt) => receipt.delivery);
  const reason = `received ${session.maxReceives} times without an ack`;
  const values = [ids, deliveries, queue, reason, session.maxReceives];
  await run(session, session.pool, buryHeld, values);
}

const readDead: Statement = {
  name: 'q2t_dead_messages',
  text: `
    SELECT id, sent_at, dead_at, receives, key, reason, body, attempts
    FROM queue.dead_message WHERE queue = $1 AND id > $2 ORDER BY id LIMIT $3`,
};

interface DeadRow {
  id: string;
  sent_at: Date;
  dead_at: Date;
  receives: number;
  key: string | null;
  reason: string;
  body: unknown;
  attempts: Attempt[] | null;
}

export async function deadMessages(
  session: Session,
  queue: string,
  { limit = 100, after = '0' }: { limit?: number; after?: string } = {},
  db: Db = session.pool,
): Promise<DeadMessage[]> {
  checkQueue(queue);
  checkPage(limit, after);
  const rows = await run<DeadRow>(session, db, readDead, [queue, after, limit]);
  return rows.map((row) => ({
    messageId: row.id,
    body: row.body,
    ...(row.key === null ? {} : { key: row.key }),
    reason: row.reason,
    receiveCount: row.receives,
    sentAt: row.sent_at,
    deadAt: row.dead_at,
    attempts: row.attempts ?? [],
  }));
}

const discardNamed: Statement = {
  name: 'q2t_discard',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM queue.dead_message WHERE queue = $1 AND id = ANY ($2::bigint[])
      ORDER BY id FOR UPDATE
    )
    DELETE FROM queue.dead_message AS d USING chosen WHERE d.id = chosen.id RETURNING d.id`,
};

export async function discard(
  session: Session,
  queue: string,
  messageIds: string[],
  db: Db = session.pool,
): Promise<number> {
  checkQueue(queue);
  checkMessageIds('messageIds', messageIds);
  return (await run(session, db, discardNamed, [queue, messageIds])).length;
}
