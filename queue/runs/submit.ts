import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import type { SubmitResult } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import { canonicalJson } from '../../core/order/canonical.ts';
import { orderIdOf, toRunInput } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import { CURRENT_VERSION } from '../../core/steps.ts';
import type { Outcome } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import type { Transport } from '../transport/contract.ts';
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
 */
export async function submitIn(
  tx: ClientBase,
  transport: Transport,
  order: Order,
  policy: Policy,
): Promise<SubmitResult> {
  const id = orderIdOf(order);
  const runId = businessKey(id);
  const contentHash = createHash('sha256').update(canonicalJson(order)).digest('hex');
  const { rows } = await tx.query<{ now: Date }>(
    `INSERT INTO queue.run (id, buyer_id, order_ref, content_hash, version, step, status)
     VALUES ($1, $2, $3, $4, ${versionOfNewRun('$6', '$5')}, 'validate', 'running')
     ON CONFLICT (id) DO NOTHING
     RETURNING started_at AS now`,
    [runId, id.buyerId, id.orderRef, contentHash, CURRENT_VERSION, bucketOf(runId)],
  );
  const [started] = rows;
  if (!started) {
    const there = await tx.query<{ content_hash: string; outcome: Outcome | null }>(
      'SELECT content_hash, outcome FROM queue.run WHERE id = $1',
      [runId],
    );
    return compare(id, contentHash, there.rows[0]);
  }
  await storeInput(tx, runId, toRunInput(order, policy, started.now));
  await appendHistory(tx, runId, [{ type: 'started', revision: 1 }]);
  await wake(tx, transport, runId);
  return { kind: 'started', id };
}

function compare(
  id: SubmitResult['id'],
  contentHash: string,
  there: { content_hash: string; outcome: Outcome | null } | undefined,
): SubmitResult {
  if (!there) throw new Error(`run ${businessKey(id)} was there and is gone`);
  if (there.content_hash !== contentHash) {
    const reason = 'this buyer has another order under the same reference';
    return { kind: 'conflict', id, reason };
  }
  return there.outcome === null
    ? { kind: 'already-running', id }
    : { kind: 'already-finished', id, outcome: there.outcome };
}
