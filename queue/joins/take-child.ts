import type { Policy } from '../../core/policy.ts';
import type { Engine } from '../runs/engine.ts';
import type { ReceivedMessage } from '../transport/contract.ts';
import { SUSPECT_DELAY_MS } from '../runs/suspects.ts';
import type { ChildQueue, ChildWakeUp } from './children.ts';

/** One child in the hands of this worker, with its own lease and fencing token. */
export interface HeldChild {
  queue: ChildQueue;
  joinId: string;
  childId: string;
  runId: string;
  revision: number;
  token: string;
  leasedAt: Date;
  leaseMs: number;
  attempts: number;
  lostWorkers: number;
  failures: number;
  missingFailures: number;
  input: unknown;
  policy: Policy;
  message: { messageId: string; receipt: string };
}

interface TakenRow {
  run_id: string;
  revision: number;
  token: string;
  leased_at: Date;
  lease_ms: number;
  attempts: number;
  lost_workers: number;
  failures: number;
  missing_failures: number;
  input: unknown;
  policy: Policy;
}

/**
 * Takes a child's lease and counts the attempt, or the worker that was lost, before the work: one
 * statement. Undefined when there is nothing to do for this message, which is settled then.
 */
export async function takeChild(
  engine: Engine,
  queue: ChildQueue,
  { joinId, childId }: ChildWakeUp,
  { messageId, receipt }: ReceivedMessage,
  mayBeSuspect: boolean,
): Promise<HeldChild | undefined> {
  const { rows } = await engine.pool.query<TakenRow>({
    name: 'child-take',
    text: `
      UPDATE queue.join_child AS c SET
        token = c.token + 1, attempts = c.attempts + 1,
        lost_workers = c.lost_workers + (c.lease_until IS NOT NULL)::int,
        leased_at = statement_timestamp(),
        lease_until = statement_timestamp() + (i.policy->>'heartbeatMs')::int * interval '1 millisecond',
        message_id = $3, worker = $4
      FROM queue.run_join j, queue.run r, queue.run_input i
      WHERE c.join_id = $1 AND c.child_id = $2 AND c.state = 'sent'
        AND (c.lease_until IS NULL OR c.lease_until <= statement_timestamp())
        AND (c.not_before IS NULL OR c.not_before <= statement_timestamp())
        AND ($6 OR (c.lost_workers = 0 AND c.lease_until IS NULL))
        AND j.id = c.join_id AND j.closed_at IS NULL
        AND r.id = j.run_id AND r.version = ANY($5)
        AND i.run_id = r.id AND i.revision = r.revision
      RETURNING r.id AS run_id, r.revision, c.token, c.leased_at, c.attempts, c.lost_workers,
        c.failures, c.missing_failures, c.input, i.policy,
        (i.policy->>'heartbeatMs')::int AS lease_ms`,
    values: [joinId, childId, messageId, engine.worker, engine.pipelines.versions, mayBeSuspect],
  });
  const [row] = rows;
  if (!row) {
    await settleUntaken(engine, queue, { joinId, childId }, { messageId, receipt });
    return undefined;
  }
  return {
    queue,
    joinId,
    childId,
    runId: row.run_id,
    revision: row.revision,
    token: row.token,
    leasedAt: row.leased_at,
    leaseMs: row.lease_ms,
    attempts: row.attempts,
    lostWorkers: row.lost_workers,
    failures: row.failures,
    missingFailures: row.missing_failures,
    input: row.input,
    policy: row.policy,
    message: { messageId, receipt },
  };
}

/**
 * A child that is done, dropped or in other hands needs no second message; its holder's own message,
 * delivered again, comes back when the lease has run out, and so does a suspect, or one that is early;
 * one of an unserved version is left to others.
 */
async function settleUntaken(
  { pool, transport, pipelines }: Engine,
  queue: ChildQueue,
  { joinId, childId }: ChildWakeUp,
  { messageId, receipt }: { messageId: string; receipt: string },
): Promise<void> {
  const { rows } = await pool.query<{
    held_ms: number | null;
    early_ms: number | null;
    own: boolean;
    version: string;
  }>(
    `SELECT extract(epoch FROM c.lease_until - statement_timestamp())::float8 * 1000 AS held_ms,
       extract(epoch FROM c.not_before - statement_timestamp())::float8 * 1000 AS early_ms,
       c.message_id IS NOT DISTINCT FROM $3 AS own, r.version
     FROM queue.join_child c JOIN queue.run_join j ON j.id = c.join_id JOIN queue.run r ON r.id = j.run_id
     WHERE c.join_id = $1 AND c.child_id = $2 AND c.state = 'sent' AND j.closed_at IS NULL`,
    [joinId, childId, messageId],
  );
  const [row] = rows;
  const unserved = row && !pipelines.serves(row.version);
  const held = row && (row.held_ms ?? 0) > 0;
  if (row && (row.own || unserved || !held)) {
    const waitMs = Math.max(SUSPECT_DELAY_MS, row.held_ms ?? 0, row.early_ms ?? 0);
    const delayMs = unserved ? 2_000 : Math.ceil(Math.min(waitMs, transport.limits.maxDelayMs));
    await transport.nack(queue, receipt, { delayMs, uncounted: true, reason: 'not to be had' });
  } else {
    await transport.ack(queue, receipt);
  }
}
