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
