import { LeaseLost } from '../runs/fence.ts';
import type { Db } from '../transport/contract.ts';
import type { HeldChild } from './take-child.ts';

/** The child's own fence: the same rule as its run's, on its own row and token. Extends its lease. Throws LeaseLost. */
export async function fenceChild(tx: Db, child: HeldChild): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'child-fence',
    text: `
      UPDATE queue.join_child SET lease_until = statement_timestamp() + $4 * interval '1 millisecond'
      WHERE join_id = $1 AND child_id = $2 AND token = $3 AND lease_until IS NOT NULL`,
    values: [child.joinId, child.childId, child.token, child.leaseMs],
  });
  if (!rowCount) throw new LeaseLost(`${child.joinId}/${child.childId}`, child.token);
}
