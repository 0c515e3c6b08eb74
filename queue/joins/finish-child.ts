import type { ClientBase } from 'pg';
import { withTransaction } from '../database.ts';
import type { Engine } from '../runs/engine.ts';
import { LeaseLost } from '../runs/fence.ts';
import { deliver } from '../runs/inbox.ts';
import type { ChildOutcome } from './children.ts';
import { sendNext } from './start-join.ts';
import type { HeldChild } from './take-child.ts';

/**
 * Gives a child its one outcome and decides, under the join's row lock, whether it was the last: then
 * the run is told, once, in the same transaction. Locks run, join, child, message, in this order, as
 * everybody does. Throws LeaseLost when another worker has the child.
 */
export async function finishChild(
  { pool, transport }: Engine,
  child: HeldChild,
  outcome: ChildOutcome,
  write?: (tx: ClientBase) => Promise<void>,
): Promise<void> {
  const { joinId, runId, queue, message } = child;
  await withTransaction(pool, async (tx) => {
    await tx.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
    const { rows } = await tx.query<{ closed: boolean }>(
      `SELECT closed_at IS NOT NULL AS closed FROM queue.run_join WHERE id = $1 FOR UPDATE`,
      [joinId],
    );
    await putOutcome(tx, child, outcome);
    await write?.(tx);
    // A closed join wants no more children; what this one did is in the ledger all the same.
    if (!rows[0]?.closed) {
      await sendNext(tx, transport, { joinId, queue, count: 1 });
      if (await countDone(tx, joinId))
        await deliver(tx, transport, runId, { kind: 'joined', joinId });
    }
    await transport.ack(queue, message.receipt, tx);
  });
}

async function putOutcome(tx: ClientBase, child: HeldChild, outcome: ChildOutcome): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'child-finish',
    text: `
      UPDATE queue.join_child SET state = 'done', outcome = $4, lease_until = NULL
      WHERE join_id = $1 AND child_id = $2 AND token = $3 AND state = 'sent'
        AND lease_until IS NOT NULL`,
    values: [child.joinId, child.childId, child.token, JSON.stringify(outcome)],
  });
  if (!rowCount) throw new LeaseLost(`${child.joinId}/${child.childId}`, child.token);
}

/** Moves the cached counter; true when the set itself, not the counter, says that this completed it. */
async function countDone(tx: ClientBase, joinId: string): Promise<boolean> {
  const { rows } = await tx.query<{ completed: boolean }>({
    name: 'join-count-done',
    text: `
      UPDATE queue.run_join SET done = done + 1, completed_at = CASE WHEN NOT EXISTS (
          SELECT FROM queue.join_child WHERE join_id = $1 AND state <> 'done'
        ) THEN statement_timestamp() END
      WHERE id = $1 AND completed_at IS NULL
      RETURNING completed_at IS NOT NULL AS completed`,
    values: [joinId],
  });
  return rows[0]?.completed ?? false;
}
