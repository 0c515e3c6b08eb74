import type { ClientBase } from 'pg';
import type { Transport } from '../transport/contract.ts';
import { sendAll } from '../transport/send-all.ts';
import type { ChildQueue, ChildWakeUp } from './children.ts';

export interface NewJoin {
  /** Names the moment "all done" once and for all: the run, its revision, the step. */
  joinId: string;
  runId: string;
  queue: ChildQueue;
  /** At most this many of the children are out at the same time. */
  width: number;
  children: { childId: string; input: object }[];
}

/**
 * Fans out: writes the whole set of children and sends the first of them, in the transaction that
 * parks the run. The others follow one by one as children end, so that a run with 2,000 lines has no
 * more messages in the queue than one with eight.
 */
export async function startJoin(
  tx: ClientBase,
  transport: Transport,
  { joinId, runId, queue, width, children }: NewJoin,
): Promise<void> {
  await tx.query(
    'INSERT INTO queue.run_join (id, run_id, queue, total, width) VALUES ($1, $2, $3, $4, $5)',
    [joinId, runId, queue, children.length, width],
  );
  await tx.query(
    `INSERT INTO queue.join_child (join_id, child_id, ordinal, input)
     SELECT $1, child_id, ordinal, input
     FROM unnest($2::text[], $3::jsonb[]) WITH ORDINALITY AS given (child_id, input, ordinal)`,
    [
      joinId,
      children.map(({ childId }) => childId),
      children.map(({ input }) => JSON.stringify(input)),
    ],
  );
  await sendNext(tx, transport, { joinId, queue, count: width });
}

/** Sends the next children of a join whose row the caller has locked, or has just made. */
export async function sendNext(
  tx: ClientBase,
  transport: Transport,
  { joinId, queue, count }: { joinId: string; queue: string; count: number },
): Promise<void> {
  if (count <= 0) return;
  const { rows } = await tx.query<{ child_id: string }>({
    name: 'join-send-next',
    text: `
      UPDATE queue.join_child SET state = 'sent', sent_at = statement_timestamp()
      WHERE join_id = $1 AND child_id IN (
        SELECT child_id FROM queue.join_child
        WHERE join_id = $1 AND state = 'waiting' ORDER BY ordinal LIMIT $2)
      RETURNING child_id`,
    values: [joinId, count],
  });
  const messages = rows.map(({ child_id: childId }) => {
    const body: ChildWakeUp = { joinId, childId };
    return { body };
  });
  await sendAll(transport, tx, queue, messages);
}
