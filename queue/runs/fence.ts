import type { Db } from '../transport/contract.ts';

/** The right to work on a run until somebody else takes it. */
export interface Lease {
  runId: string;
  /** The fencing token: carried by every write made under this lease. */
  token: string;
  leaseMs: number;
  /** When the lease was taken, by the database's clock. Older workers of the run were fenced off then. */
  leasedAt: Date;
  worker: string;
}

/** Somebody else has the run: nothing was written, and nothing may be written any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(what: string, token: string) {
    super(`${what}: token ${token} is no longer the current one`);
  }
}

/** What others than the holder change, as it is under the lock. */
export interface Fenced {
  wakeSeq: string;
  /** The run that follows this one, and has to be woken when it ends. */
  parentId: string | null;
  now: Date;
}

/**
 * Every transaction of a worker starts here, with the row locked by an UPDATE that only the current
 * token gets through; a read first would be a decision about a row that may change. Extends the lease
 * by the way. Throws LeaseLost. With a pool it is a heartbeat, which one statement does so that no worker
 * can be frozen in the middle of it, with the row locked.
 *
 * Fences by the claim's identity alone. Not by the clock: a lease that ran out and that nobody took
 * is still ours. Not by status or worker name: two claims can share those.
 */
export async function fence(tx: Db, lease: Lease): Promise<Fenced> {
  const { rows } = await tx.query<{ wake_seq: string; parent_id: string | null; now: Date }>({
    name: 'run-fence',
    text: `
      UPDATE queue.run SET lease_until = statement_timestamp() + $3 * interval '1 millisecond'
      WHERE id = $1 AND token = $2 AND lease_until IS NOT NULL
      RETURNING wake_seq, parent_id, statement_timestamp() AS now`,
    values: [lease.runId, lease.token, lease.leaseMs],
  });
  const [row] = rows;
  if (!row) throw new LeaseLost(lease.runId, lease.token);
  return { wakeSeq: row.wake_seq, parentId: row.parent_id, now: row.now };
}
