import type { Pool } from 'pg';
import type { CancelResult } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Outcome } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import type { Transport } from '../transport/contract.ts';
import { deliver } from './inbox.ts';

/**
 * Asks for a run to be cancelled: an entry in its inbox, durable while no worker lives. Its holder
 * honours it at the next transition, until the invoice step begins.
 */
export async function cancel(
  pool: Pool,
  transport: Transport,
  id: OrderId,
  request: { by: string; reason: string },
): Promise<CancelResult> {
  const runId = businessKey(id);
  return withTransaction(pool, async (tx): Promise<CancelResult> => {
    const { rows } = await tx.query<{ outcome: Outcome | null }>(
      'SELECT outcome FROM queue.run WHERE id = $1 FOR NO KEY UPDATE',
      [runId],
    );
    const [run] = rows;
    if (!run) return { kind: 'not-found' };
    if (run.outcome !== null) {
      const reason = `the run has ended (${run.outcome})`;
      return { kind: 'conflict', conflict: 'ended', reason };
    }
    await deliver(tx, transport, runId, { kind: 'cancel', ...request });
    return { kind: 'requested' };
  });
}
