import type { Guard } from './guard.ts';

/** Leases are taken as ever, but a write no longer says under which of them it is made. */
export const fencing: Guard = {
  name: 'fencing in the writes',
  patches: [
    {
      file: 'queue/runs/fence.ts',
      replace: 'WHERE id = $1 AND token = $2 AND lease_until IS NOT NULL',
      by: 'WHERE id = $1 AND $2::bigint IS NOT NULL',
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
