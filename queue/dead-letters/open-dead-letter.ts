import type { ClientBase } from 'pg';
import { queueOfRun } from '../runs/inbox.ts';
import type { Run } from '../runs/run.ts';

/** Puts a stuck run in front of the operators, in the transaction that marks it stuck. */
export async function openDeadLetter(
  tx: ClientBase,
  run: Run,
  { reason, messageId }: { reason: string; messageId: string | null },
): Promise<void> {
  await tx.query(
    `INSERT INTO queue.dead_letter (run_id, revision, step, reason, queue, message_id)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [run.id, run.revision, run.state.failedUndo ?? run.step, reason, queueOfRun(run.id), messageId],
  );
}
