import type { Pool } from 'pg';
import { withTransaction } from '../database.ts';
import { sendNext } from '../joins/start-join.ts';
import type { Transport } from '../transport/contract.ts';
import { deliver, wake } from './inbox.ts';

export interface SweepSettings {
  /** What has been quiet for longer than this is looked at. Longer than any lease and any retry. */
  quietMs: number;
  /** At most this many of each kind in one go. */
  batch: number;
}

export interface Swept {
  runs: number;
  joins: number;
  children: number;
  /** Runs of the agent whose order has ended. */
  parents: number;
}

/**
 * Finds what nothing will wake: the backstop, never the way things normally work. A wake-up too many
 * is harmless, so it needs no certainty that one was lost.
 */
export async function sweep(
  pool: Pool,
  transport: Transport,
  settings: SweepSettings,
): Promise<Swept> {
  return {
    runs: await wakeAll(pool, transport, QUIET_RUNS, settings),
    joins: await finishCompleteJoins(pool, transport, settings),
    children: await resendQuietChildren(pool, transport, settings),
    parents: await wakeAll(pool, transport, QUIET_PARENTS, settings),
  };
}

/**
 * Runs that could go on, that nobody holds, and that were last woken long ago. Gates, dates and joins have
 * their own wakers. Oldest wake-up first and no more than asked for: the limit is a subquery so that the planner takes
 * the index of open runs by `woken_at`, and does not sort all of them, whatever the statistics say.
 */
export const QUIET_RUNS = `
  SELECT id FROM queue.run
  WHERE ended_at IS NULL AND woken_at < statement_timestamp() - $1 * interval '1 millisecond'
    AND (lease_until IS NULL OR lease_until < statement_timestamp() - $1 * interval '1 millisecond')
    AND (parked_for IS NULL OR (parked_for = 'retry'
      AND next_attempt_at < statement_timestamp() - $1 * interval '1 millisecond'))
  ORDER BY woken_at LIMIT (SELECT $2::int) FOR NO KEY UPDATE SKIP LOCKED`;

/** Runs of the agent that follow an order which has ended without waking them; by the index of the agent's open runs, which are few. */
export const QUIET_PARENTS = `
  SELECT id FROM queue.run p
  WHERE kind = 'agent' AND ended_at IS NULL AND parked_for = 'child' AND lease_until IS NULL
    AND woken_at < statement_timestamp() - $1 * interval '1 millisecond'
    AND EXISTS (SELECT FROM queue.run c WHERE c.parent_id = p.id AND c.ended_at IS NOT NULL)
  ORDER BY woken_at LIMIT (SELECT $2::int) FOR NO KEY UPDATE SKIP LOCKED`;

/** Wakes the runs that the query finds. */
async function wakeAll(
  pool: Pool,
  transport: Transport,
  quiet: string,
  { quietMs, batch }: SweepSettings,
): Promise<number> {
  return withTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `UPDATE queue.run SET woken_at = statement_timestamp() WHERE id IN (${quiet})
       RETURNING id`,
      [quietMs, batch],
    );
    for (const { id } of rows) await wake(tx, transport, id);
    return rows.length;
  });
}

/** Joins whose children have all ended and whose run was not told: their set decides, not the counter. */
async function finishCompleteJoins(
  pool: Pool,
  transport: Transport,
  { batch }: SweepSettings,
): Promise<number> {
  const { rows } = await pool.query<{ id: string; run_id: string }>(
    `SELECT id, run_id FROM queue.run_join j
     WHERE completed_at IS NULL AND closed_at IS NULL AND NOT EXISTS (
       SELECT FROM queue.join_child WHERE join_id = j.id AND state <> 'done')
     LIMIT $1`,
    [batch],
  );
  let finished = 0;
  for (const { id: joinId, run_id: runId } of rows) {
    finished += await withTransaction(pool, async (tx) => {
      await tx.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
      const { rowCount } = await tx.query(
        `UPDATE queue.run_join j SET completed_at = statement_timestamp(), done = total
         WHERE id = $1 AND completed_at IS NULL AND closed_at IS NULL AND NOT EXISTS (
           SELECT FROM queue.join_child WHERE join_id = j.id AND state <> 'done')`,
        [joinId],
      );
      if (rowCount) await deliver(tx, transport, runId, { kind: 'joined', joinId });
      return rowCount ?? 0;
    });
  }
  return finished;
}

/** Children whose message was sent long ago and that nobody holds: put back among the waiting and sent again. */
async function resendQuietChildren(
  pool: Pool,
  transport: Transport,
  { quietMs, batch }: SweepSettings,
): Promise<number> {
  const { rows } = await pool.query<{ join_id: string; queue: string; run_id: string }>(
    `SELECT DISTINCT c.join_id, j.queue, j.run_id FROM queue.run_join j
     JOIN queue.join_child c ON c.join_id = j.id
     WHERE j.completed_at IS NULL AND j.closed_at IS NULL AND c.state = 'sent'
       AND greatest(c.sent_at, c.leased_at, c.lease_until, c.not_before)
         < statement_timestamp() - $1 * interval '1 millisecond'
     LIMIT $2`,
    [quietMs, batch],
  );
  let resent = 0;
  for (const { join_id: joinId, queue, run_id: runId } of rows) {
    resent += await withTransaction(pool, async (tx) => {
      await tx.query('SELECT FROM queue.run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
      await tx.query('SELECT FROM queue.run_join WHERE id = $1 FOR UPDATE', [joinId]);
      // The lease stays as it is: who takes the child next counts the worker that was lost with it.
      const { rowCount } = await tx.query(
        `UPDATE queue.join_child SET state = 'waiting' WHERE join_id = $1 AND state = 'sent'
           AND greatest(sent_at, leased_at, lease_until, not_before)
             < statement_timestamp() - $2 * interval '1 millisecond'`,
        [joinId, quietMs],
      );
      await sendNext(tx, transport, { joinId, queue, count: rowCount ?? 0 });
      return rowCount ?? 0;
    });
  }
  return resent;
}
