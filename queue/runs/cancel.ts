import type { ClientBase, Pool } from 'pg';
import type { CancelResult } from '../../core/contract.ts';
import { withTransaction } from '../database.ts';
import type { Transport } from '../transport/contract.ts';
import { appendHistory } from './history.ts';
import { deliver } from './inbox.ts';
import { lockRun } from './lock-run.ts';
import { cancellable } from './absorb.ts';

interface Request {
  by: string;
  reason: string;
}

/**
 * Asks for a run to be cancelled: an entry in its history, seen at once, and one in its inbox, durable
 * while no worker lives. Its holder honours it when the step under way has reported, unless the
 * invoice step has begun: then the history says that it came too late.
 */
export async function cancel(
  pool: Pool,
  transport: Transport,
  runId: string,
  request: Request,
): Promise<CancelResult> {
  return withTransaction(pool, async (tx): Promise<CancelResult> => {
    const run = await lockRun(tx, runId);
    if (!run) return { kind: 'not-found' };
    if (run.outcome !== null) {
      const reason = `the run has ended (${run.outcome})`;
      return { kind: 'conflict', conflict: 'ended', reason };
    }
    const earlier = run.state.cancel ?? (await pending(tx, runId));
    if (earlier?.by === request.by && earlier.reason === request.reason)
      return { kind: 'requested' };
    if (earlier || !cancellable(run, true)) {
      await appendHistory(tx, runId, [{ type: 'cancel-too-late', ...request }]);
      return { kind: 'requested' };
    }
    await appendHistory(tx, runId, [{ type: 'cancel-requested', ...request }]);
    await deliver(tx, transport, runId, { kind: 'cancel', ...request });
    return { kind: 'requested' };
  });
}

/** A request that the run's holder has not looked at yet. */
async function pending(tx: ClientBase, runId: string): Promise<Request | undefined> {
  const { rows } = await tx.query<Request>(
    `SELECT entry->>'by' AS by, entry->>'reason' AS reason FROM queue.run_inbox
     WHERE run_id = $1 AND entry->>'kind' = 'cancel'`,
    [runId],
  );
  return rows[0];
}
