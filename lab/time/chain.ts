import type pg from 'pg';
import type { OrderId } from '../../core/identity.ts';
import { CHAIN_QUEUE } from '../../queue/chain/handle.ts';

/**
 * Brings the delayed messages of one order nearer by `ms`. It is all of a chain's time that is in the
 * database: what it compares with a date is the clock of its worker's machine (`clock.mjs`). That an
 * order's messages can be told apart is the lab's privilege: a broker looks into no body.
 */
export async function shiftDelayedMessages(pool: pg.Pool, id: OrderId, ms: number): Promise<void> {
  await pool.query(
    `UPDATE queue.message SET visible_at = visible_at - $4 * interval '1 millisecond'
     WHERE queue = $1 AND receipt IS NULL AND visible_at > statement_timestamp()
       AND body #>> '{input,order,buyer,id}' = $2 AND body #>> '{input,order,orderRef}' = $3`,
    [CHAIN_QUEUE, id.buyerId, id.orderRef, ms],
  );
}
