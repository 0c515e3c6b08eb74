import type { Guard } from './guard.ts';

/** The run still says which version it began with, and nobody looks: the newest order of steps is taken. */
export const versionOfTheRun: Guard = {
  name: 'the version that a run keeps',
  patches: [
    {
      file: 'core/steps.ts',
      replace: "return version === '1' ? SEQUENCES[1] : STEPS;",
      by: 'return STEPS;',
    },
  ],
};

/** The change is shipped in place of the old code: a bundle without `patched`. */
export const patch: Guard = { name: 'the patch' };

const CHAIN = 'queue/chain/steps.ts';

/** What the chain was before the change: approve, then reserve, and no screening. The deploy that it had. */
export const oldChain: Guard = {
  name: 'the change of the steps',
  patches: [
    {
      file: CHAIN,
      replace: "policy)) return to('charge');",
      by: "policy)) return to('reserve');",
    },
    { file: CHAIN, replace: "return to('approve');", by: "return to('charge');" },
    { file: CHAIN, replace: "return to('screen');", by: "return to('approve');" },
  ],
};

/**
 * The article's first remedy: a message says which order of steps it began with. One without the field is
 * of the old order; the field travels with the body from the first link on.
 */
export const chainWithVersions: Guard = {
  name: 'one order of steps for all messages',
  patches: [
    { file: CHAIN, replace: "to('credit', { payable:", by: "to('credit', { v: 2, payable:" },
    {
      file: CHAIN,
      replace: "return to('screen');",
      by: "return to(link.v === 2 ? 'screen' : 'approve');",
    },
    {
      file: CHAIN,
      replace: "policy)) return to('charge');",
      by: "policy)) return to(link.v === 2 ? 'charge' : 'reserve');",
    },
    {
      file: CHAIN,
      replace: "      return to('approve');\n    case",
      by: "      return to(link.v === 2 ? 'approve' : 'charge');\n    case",
    },
  ],
};
