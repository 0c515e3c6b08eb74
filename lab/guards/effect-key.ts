import type { Guard } from './guard.ts';

/** A key made anew for every attempt, as a delivery id or a random one is: the partner sees no repetition. */
export const sharedKey: Guard = {
  name: 'a key that all attempts share',
  patches: [
    {
      file: 'queue/chain/steps.ts',
      replace: "const charge = { key: keyOf('charge'), reference, amount };",
      by: "const charge = { key: keyOf('charge') + crypto.randomUUID(), reference, amount };",
    },
    {
      file: 'queue/steps/charge.ts',
      replace: "const key = effectKey(id, { revision: run.revision, step: 'charge' });",
      by: "const key = effectKey(id, { revision: run.revision, step: 'charge' }) + crypto.randomUUID();",
    },
    {
      file: 'activities/charge.ts',
      replace: "const key = effectKey(id, { revision, step: 'charge' });",
      by: "const key = effectKey(id, { revision, step: 'charge' }) + crypto.randomUUID();",
    },
  ],
};

/** The same in the pipeline of three steps. */
export const sharedKeyOfThreeSteps: Guard = {
  name: sharedKey.name,
  patches: [
    {
      file: 'lab/scenarios/three-steps/steps.ts',
      replace: "const key = effectKey(id, { revision: 1, step: 'reserve' });",
      by: "const key = effectKey(id, { revision: 1, step: 'reserve' }) + crypto.randomUUID();",
    },
  ],
};
