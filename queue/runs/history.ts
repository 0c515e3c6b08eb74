import type { ClientBase } from 'pg';
import type { HistoryEvent } from '../../core/history.ts';

/** Appends events, in order. Only in a transaction that holds the run's row lock: the ids are the order. */
export async function appendHistory(
  tx: ClientBase,
  runId: string,
  events: readonly HistoryEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await tx.query({
    name: 'history-append',
    text: `
      INSERT INTO queue.run_history (run_id, event)
      SELECT $1, event FROM unnest($2::jsonb[]) WITH ORDINALITY AS given (event, position)
      ORDER BY position`,
    values: [runId, events.map((event) => JSON.stringify(event))],
  });
}
