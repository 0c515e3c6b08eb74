/**
 * The stages in the life of a change of the workflow, in the order in which they are deployed. Each has
 * its folder in test/histories/.
 */
export const STAGES = ['before'] as const;
export type Stage = (typeof STAGES)[number];

/** The stage that `workflows/` is in: what `npm run histories` records. */
export const CURRENT_STAGE: Stage = 'before';

/** The stages whose runs may still be open, so whose histories the workflows must replay. */
export const STAGES_IN_FLIGHT: readonly Stage[] = ['before'];
