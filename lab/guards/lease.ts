import type { Guard } from './guard.ts';

/** Whoever receives a wake-up works on its run, whether or not somebody else is at it. */
export const lease: Guard = {
  name: 'the lease',
  patches: [
    {
      file: 'queue/runs/take.ts',
      replace: 'if (row.held) return',
      by: 'if (false) return',
    },
  ],
};
