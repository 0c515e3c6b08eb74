import type { ClientBase } from 'pg';
import type { Run } from './run.ts';

/**
 * Keeps what an operator compares between attempts: the failure and the worker, whose name says the version of its code.
 * `run.worker` at this time is still the worker of the attempt that ended.
 */
export async function recordAttempt(
  tx: ClientBase,
  run: Run,
  token: string,
  { failureClass, message }: { failureClass: string; message: string },
): Promise<void> {
  await tx.query({
    name: 'attempt-record',
    text: `
      INSERT INTO queue.run_attempt
        (run_id, revision, token, step, attempt, worker, failure_class, message)
      SELECT $1, $2, $3, $4, $5, worker, $6, $7 FROM queue.run WHERE id = $1`,
    values: [
      run.id,
      run.revision,
      token,
      run.step,
      run.attempts,
      failureClass,
      message.slice(0, 2_000),
    ],
  });
}
