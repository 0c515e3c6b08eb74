import type { Guard } from './guard.ts';

/**
 * Leases are taken and kept as ever, but what a worker writes about its run no longer says under which
 * lease. The heartbeat still does: without that too, a beat under way would keep a parked run from
 * being woken, now and then, and hide what this is about.
 */
export const fencing: Guard = {
  name: 'fencing in the writes',
  patches: [
    {
      file: 'queue/runs/transition.ts',
      replace: 'const { wakeSeq, parentId, now } = await fence(tx, lease);',
      by: `const { rows: [{ wakeSeq, parentId, now }] } = await tx.query(
      'SELECT wake_seq AS "wakeSeq", parent_id AS "parentId", statement_timestamp() AS now FROM queue.run WHERE id = $1 FOR UPDATE',
      [lease.runId],
    );`,
    },
  ],
};

/** A worker acts on a lease that it took before it was frozen, without a look at the clock. */
export const lookBeforeActing: Guard = {
  name: 'the look at the lease before acting',
  patches: [
    {
      file: 'queue/ledger/effect.ts',
      replace: 'if (performance.now() - began > performer.leaseMs)',
      by: 'if (began < 0)',
    },
  ],
};

/**
 * The same on Temporal: an activity that was silent for too long does not ask whether it still counts. Nor
 * does it hear of its cancellation, which after a freeze may come before or after the partner's answer.
 */
export const lookBeforeActingOnTemporal: Guard = {
  name: lookBeforeActing.name,
  patches: [
    { file: 'activities/attempt.ts', replace: 'if (isSilent())', by: 'if (false)' },
    {
      file: 'activities/attempt.ts',
      replace: ', signal: context.cancellationSignal },',
      by: ' },',
    },
  ],
};
