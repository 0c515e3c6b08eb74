import type { Guard } from './guard.ts';

/** The model alone decides what needs a person. */
export const approvalInTheProgram: Guard = {
  name: 'the approval in the program',
  patches: [
    {
      file: 'core/agent/absorb.ts',
      replace: 'if (!approvalNeeded(payable, limits))',
      by: 'if (payable)',
    },
  ],
};

/** Answers that can't be used are sent back to the model as often as it takes. */
export const patienceWithTheModel: Guard = {
  name: 'the end of patience',
  patches: [
    {
      file: 'core/agent/absorb-answer.ts',
      replace: 'if (repairs > input.limits.maxRepairs)',
      by: 'if (repairs < 0)',
    },
  ],
};

/** A call whose answer was lost costs nothing, as far as the run knows. */
export const chargeForLostCalls: Guard = {
  name: 'the charge for lost calls',
  patches: [
    {
      file: 'core/agent/absorb.ts',
      replace: 'const spent = chargeLost(lost.spent, worst, input.price);',
      by: 'const spent = (void worst, lost.spent);',
    },
  ],
};

/** The version of prompt and tools is whatever the worker has that takes the next turn. */
export const versionOfTheRequest: Guard = {
  name: 'the version that a request keeps',
  patches: [
    {
      file: 'core/agent/versions.ts',
      replace: 'const version = VERSIONS.get(name);',
      by: "const version = VERSIONS.get(name) && VERSIONS.get('2');",
    },
  ],
};
