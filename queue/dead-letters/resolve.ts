import type { ClientBase } from 'pg';
import type { Order } from '../../core/order/schema.ts';
import type { Transport } from '../transport/contract.ts';

export interface Resolution {
  resolution: 'replayed' | 'fixed' | 'discarded';
  by: string;
  why: string;
  before?: Order;
  after?: Order;
}

/**
 * Closes a run's open dead letter, if it has one, and takes its message out of the dead-letter queue:
 * back to work (`redriven`), or for good. Returns whether a message went back.
 */
export async function resolveDeadLetter(
  tx: ClientBase,
  transport: Transport,
  runId: string,
  { resolution, by, why, before, after }: Resolution,
): Promise<'redriven' | 'none'> {
  const { rows } = await tx.query<{ queue: string; message_id: string | null }>(
    `UPDATE queue.dead_letter SET resolution = $2, resolved_at = statement_timestamp(),
       resolved_by = $3, why = $4, before = $5, after = $6
     WHERE run_id = $1 AND resolved_at IS NULL RETURNING queue, message_id`,
    [
      runId,
      resolution,
      by,
      why,
      before ? JSON.stringify(before) : null,
      after ? JSON.stringify(after) : null,
    ],
  );
  const [row] = rows;
  if (!row || row.message_id === null) return 'none';
  // Its retention may be over, or somebody redrove it by hand: then there is nothing to take out.
  const moved = await transport.redrive(row.queue, [row.message_id], tx);
  return moved > 0 ? 'redriven' : 'none';
}
