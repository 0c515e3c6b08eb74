import type { Pool } from 'pg';
import type { Transport } from '../transport/contract.ts';

/** A queue of its own: what dies here on purpose never stands between an operator and a real one. */
export const CANARY_QUEUE = 'canary';

/**
 * Sends one message down the way of a dead letter (sent, received, given up, listed among the dead)
 * and takes it out again. Only when it was seen there, its time is noted: an empty dead-letter queue
 * is worth what the age of its canary says. Returns whether it was seen.
 */
export async function flyCanary(pool: Pool, transport: Transport): Promise<boolean> {
  await note(pool, 'sent_at');
  const body = { canary: true };
  await transport.send(pool, CANARY_QUEUE, [{ body }]);
  const options = { max: 10, visibilityMs: 30_000, waitMs: 5_000 };
  const received = await transport.receive(CANARY_QUEUE, options);
  for (const { receipt } of received) {
    await transport.deadLetter(CANARY_QUEUE, receipt, 'a canary');
  }
  const dead = await transport.deadMessages(CANARY_QUEUE);
  const seen = dead.length > 0;
  if (seen) await note(pool, 'seen_at');
  await transport.discard(
    CANARY_QUEUE,
    dead.map(({ messageId }) => messageId),
  );
  return seen;
}

async function note(pool: Pool, column: 'sent_at' | 'seen_at'): Promise<void> {
  const values =
    column === 'sent_at' ? 'statement_timestamp(), NULL' : 'NULL, statement_timestamp()';
  await pool.query(
    `INSERT INTO queue.canary (name, sent_at, seen_at) VALUES ('dead-letters', ${values})
     ON CONFLICT (name) DO UPDATE SET ${column} = EXCLUDED.${column}`,
  );
}
