import type { Pool } from 'pg';

const NAME = 'house';

/**
 * Takes the lease of the one who keeps house, or renews it: true when it is ours for the next
 * `leaseMs`. A leader that was stopped and thaws may do one more chore beside its successor, which is
 * harmless: every chore may run twice at the same moment, one leader only keeps that from costing.
 */
export async function lead(
  pool: Pool,
  { holder, worker }: { holder: string; worker: string },
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO queue.housekeeper AS h (name, holder, worker, lease_until)
     VALUES ($1, $2, $3, statement_timestamp() + $4 * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, worker = EXCLUDED.worker,
       lease_until = EXCLUDED.lease_until
     WHERE h.holder = EXCLUDED.holder OR h.lease_until <= statement_timestamp()`,
    [NAME, holder, worker, leaseMs],
  );
  return rowCount === 1;
}

/** Leaves the house to whoever asks next, so that a deploy need not wait for the lease. */
export async function stopLeading(pool: Pool, holder: string): Promise<void> {
  await pool.query('DELETE FROM queue.housekeeper WHERE name = $1 AND holder = $2', [NAME, holder]);
}
