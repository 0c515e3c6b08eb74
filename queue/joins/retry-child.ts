import { withTransaction } from '../database.ts';
import type { StepFailure } from '../../core/failures.ts';
import type { Step } from '../../core/steps.ts';
import type { EffectFailure } from '../ledger/effect.ts';
import type { Engine } from '../runs/engine.ts';
import { recordEffect } from '../runs/failed.ts';
import { LeaseLost } from '../runs/fence.ts';
import { LINES_QUEUE } from './children.ts';
import type { HeldChild } from './take-child.ts';

export interface Again {
  delayMs: number;
  /** Absent: the attempt costs nothing (a pause, a request that may still land, a drain). */
  failure?: StepFailure;
  effect?: EffectFailure | undefined;
}

/** Lets go of a child for a later attempt: its counters, its effect's record and its message in one transaction. */
export async function retryChild(
  { pool, transport }: Engine,
  child: HeldChild,
  { delayMs, failure, effect }: Again,
): Promise<void> {
  await withTransaction(pool, async (tx) => {
    const missing = failure?.failureClass === 'missing';
    const { rowCount } = await tx.query(
      `UPDATE queue.join_child SET lease_until = NULL, attempts = attempts - $4,
         failures = failures + $5, missing_failures = missing_failures + $6,
         not_before = statement_timestamp() + $7 * interval '1 millisecond'
       WHERE join_id = $1 AND child_id = $2 AND token = $3 AND state = 'sent'
         AND lease_until IS NOT NULL`,
      [
        child.joinId,
        child.childId,
        child.token,
        failure ? 0 : 1,
        failure && !missing ? 1 : 0,
        missing ? 1 : 0,
        delayMs,
      ],
    );
    if (!rowCount) throw new LeaseLost(`${child.joinId}/${child.childId}`, child.token);
    if (effect) await recordEffect(tx, effect);
    if (failure) {
      await tx.query(
        `INSERT INTO queue.run_attempt
           (run_id, revision, token, step, attempt, worker, failure_class, message)
         SELECT $1, $2, $3, $4, $5, worker, $6, $7 FROM queue.join_child
         WHERE join_id = $8 AND child_id = $9`,
        [
          child.runId,
          child.revision,
          child.token,
          stepOf(child),
          child.attempts,
          failure.failureClass,
          `${child.childId}: ${failure.message}`.slice(0, 2_000),
          child.joinId,
          child.childId,
        ],
      );
    }
    const reason = failure?.message ?? 'postponed';
    await transport.nack(
      child.queue,
      child.message.receipt,
      { delayMs: Math.min(delayMs, transport.limits.maxDelayMs), uncounted: true, reason },
      tx,
    );
  });
}

function stepOf({ queue }: HeldChild): Step {
  return queue === LINES_QUEUE ? 'price' : 'invoice';
}
