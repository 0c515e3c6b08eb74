import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import type { SubmitResult } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { canonicalJson } from '../../core/order/canonical.ts';
import { orderIdOf, toRunInput } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import type { AgentOutcome, Outcome } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import type { Db, Transport } from '../transport/contract.ts';
import { bucketOf, versionOfNewRun } from '../versions/rollout.ts';
import { appendHistory } from './history.ts';
import { wake } from './inbox.ts';
import { storeInput } from './input.ts';

/** Starts a run, once for each order, in a transaction of its own. */
export function submit(
  pool: Pool,
  transport: Transport,
  order: Order,
  policy: Policy,
): Promise<SubmitResult> {
  return withTransaction(pool, (tx) => submitIn(tx, transport, order, policy));
}

/**
 * Starts a run in the caller's transaction: the row, its input, its history and the wake-up commit with
 * the caller's own rows or not at all. So there is no order without a message and no message without
 * an order. Of two submits at the same moment the second waits for the first one's row and compares.
 * `parentId`: the run that is to be woken when this one ends.
 */
export async function submitIn(
  tx: ClientBase,
  transport: Transport,
  order: Order,
  policy: Policy,
  parentId?: string,
): Promise<SubmitResult> {
  const id = orderIdOf(order);
  const runId = businessKey(id);
  const contentHash = contentHashOf(order);
  const { rows } = await tx.query<{ now: Date }>(
    `INSERT INTO queue.run (id, buyer_id, order_ref, content_hash, version, step, status, parent_id)
     VALUES ($1, $2, $3, $4, ${versionOfNewRun('$5')}, 'validate', 'running', $6)
     ON CONFLICT (id) DO NOTHING
     RETURNING started_at AS now`,
    [runId, id.buyerId, id.orderRef, contentHash, bucketOf(runId), parentId ?? null],
  );
  const [started] = rows;
  if (!started) {
    const there = await readThere<Outcome>(tx, runId);
    return compare(id, contentHash, there, 'order');
  }
  await storeInput(tx, runId, toRunInput(order, policy, started.now));
  await appendHistory(tx, runId, [{ type: 'started', revision: 1 }]);
  await wake(tx, transport, runId);
  return { kind: 'started', id };
}

/** What a second submit of the same content is known by. */
export function contentHashOf(content: object): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

export interface There<O extends AgentOutcome> {
  contentHash: string;
  outcome: O | null;
  reason: string | null;
}

/** What is there under a run's id; undefined when nothing is. */
export async function readThere<O extends AgentOutcome>(
  db: Db,
  runId: string,
): Promise<There<O> | undefined> {
  const { rows } = await db.query<There<O>>(
    'SELECT content_hash AS "contentHash", outcome, reason FROM queue.run WHERE id = $1',
    [runId],
  );
  return rows[0];
}

/** The answer to whoever submits what is there already. */
export function compare<O extends AgentOutcome>(
  id: OrderId,
  contentHash: string,
  there: There<O> | undefined,
  what: 'order' | 'request',
): SubmitResult<O> {
  if (!there) throw new Error(`run ${businessKey(id)} was there and is gone`);
  if (there.contentHash !== contentHash) {
    const reason = `this buyer has another ${what} under the same reference`;
    return { kind: 'conflict', id, reason };
  }
  return there.outcome === null
    ? { kind: 'already-running', id }
    : { kind: 'already-finished', id, outcome: there.outcome };
}
