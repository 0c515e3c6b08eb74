import type { ClientBase } from 'pg';
import type { Transport } from '../transport/contract.ts';
import { kindOfRun } from './run.ts';

/** What the outside tells a run. All but a cancel only say "look again": the step finds out why. */
export type InboxEntry =
  | { kind: 'cancel'; by: string; reason: string }
  | { kind: 'timer'; name: string }
  | { kind: 'answered'; gate: string; gateVersion: number }
  | { kind: 'joined'; joinId: string }
  | { kind: 'operator'; action: 'replay' | 'discard' | 'fix' };

export const ORDERS_QUEUE = 'orders';
export const AGENTS_QUEUE = 'agents';

/** The queue of a run's wake-ups: a model's minutes and an order's milliseconds have hands of their own. */
export function queueOfRun(runId: string): string {
  return kindOfRun(runId) === 'agent' ? AGENTS_QUEUE : ORDERS_QUEUE;
}

/** The whole content of a wake-up. Everything else is in the run's row. */
export interface WakeUp {
  runId: string;
}

/**
 * Leaves an entry for a run and wakes it, in the caller's transaction: both happen or neither. Locks
 * the run's row, so it comes before any lock on a join or a message. Raising `wake_seq` is what stops
 * a holder that is just letting go from missing it.
 */
export async function deliver(
  tx: ClientBase,
  transport: Transport,
  runId: string,
  entry: InboxEntry,
): Promise<void> {
  await tx.query({
    name: 'inbox-wake',
    text: `
      UPDATE queue.run SET wake_seq = wake_seq + 1, woken_at = statement_timestamp() WHERE id = $1`,
    values: [runId],
  });
  await tx.query({
    name: 'inbox-put',
    text: 'INSERT INTO queue.run_inbox (run_id, entry) VALUES ($1, $2)',
    values: [runId, JSON.stringify(entry)],
  });
  await wake(tx, transport, runId);
}

/** Sends a wake-up. One too many is harmless. */
export async function wake(
  tx: ClientBase,
  transport: Transport,
  runId: string,
  delayMs = 0,
): Promise<void> {
  const body: WakeUp = { runId };
  await transport.send(tx, queueOfRun(runId), [{ body, delayMs }]);
}

/** Takes the entries out, oldest first. Only under the run's row lock. */
export async function drainInbox(tx: ClientBase, runId: string): Promise<InboxEntry[]> {
  const { rows } = await tx.query<{ entry: InboxEntry }>({
    name: 'inbox-drain',
    text: `
      WITH taken AS (DELETE FROM queue.run_inbox WHERE run_id = $1 RETURNING id, entry)
      SELECT entry FROM taken ORDER BY id`,
    values: [runId],
  });
  return rows.map(({ entry }) => entry);
}
