import type { ClientBase } from 'pg';
import type { Run } from './run.ts';

/**
 * Writes a run's position. Only in a transaction that has locked the row: through `fence`, or, for a
 * run that nobody holds, through `lockRun`. `since` moves when the step or the status does. `holder`
 * says up to where the inbox was read and whether the lease is given back.
 */
export async function saveRun(
  tx: ClientBase,
  run: Run,
  holder?: { seenSeq: string; release: boolean },
): Promise<void> {
  await tx.query({
    name: 'run-save',
    text: `
      UPDATE queue.run SET
        since = CASE WHEN (step, status) IS DISTINCT FROM ($2, $3)
                     THEN statement_timestamp() ELSE since END,
        step = $2, status = $3, parked_for = $4, waiting_for = $5, outcome = $6, reason = $7,
        attempts = $8, lost_workers = $9, failures = $10, missing_failures = $11,
        last_failure = $12, next_attempt_at = $13, state = $14, revision = $15,
        ended_at = CASE WHEN $3 = 'ended' THEN coalesce(ended_at, statement_timestamp()) END,
        seen_seq = coalesce($16, seen_seq), lease_until = CASE WHEN $17 THEN NULL ELSE lease_until END
      WHERE id = $1`,
    values: [
      run.id,
      run.step,
      run.status,
      run.parkedFor,
      run.waitingFor && JSON.stringify(run.waitingFor),
      run.outcome,
      run.reason,
      run.attempts,
      run.lostWorkers,
      run.failures,
      run.missingFailures,
      run.lastFailure,
      run.nextAttemptAt,
      JSON.stringify(run.state),
      run.revision,
      holder?.seenSeq ?? null,
      holder?.release ?? false,
    ],
  });
}
