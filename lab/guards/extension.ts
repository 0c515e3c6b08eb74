import type { Guard } from './guard.ts';

/** The holder works on, but tells nobody: neither its lease nor its message is extended. */
export const extension: Guard = {
  name: 'the extension of lease and visibility',
  patches: [
    {
      file: 'queue/runs/keep-alive.ts',
      replace: 'if (beating) return;',
      by: 'return;',
    },
  ],
};

/** The same on Temporal: the activity works on and does not report. */
export const heartbeat: Guard = {
  name: 'the heartbeat',
  patches: [
    {
      file: 'activities/attempt.ts',
      replace: 'const timer = setInterval(beat, Math.max(1, limits.heartbeatMs / 4));',
      by: 'const timer = undefined;',
    },
  ],
};
