import { join } from 'node:path';
import { projectRoot } from '../stack/runtime.mjs';

/**
 * The stages in the life of a change of the workflow, in the order in which they are deployed. Each has
 * its folder in test/histories/.
 */
export const STAGES = ['before', 'patched', 'deprecated', 'removed'] as const;
export type Stage = (typeof STAGES)[number];

/** The stage that `workflows/` is in. The others are kept beside this file. */
export const CURRENT_STAGE: Stage = 'patched';

/** The stages whose runs may still be open, so whose histories the workflows must replay. */
export const STAGES_IN_FLIGHT: readonly Stage[] = ['before', 'patched'];

/** The file from which the workflows of a stage are bundled. */
export function workflowsOf(stage: Stage): string {
  const folder = stage === CURRENT_STAGE ? 'workflows' : join('replay', 'stages', stage);
  return join(projectRoot, folder, 'index.ts');
}
