import { LIMIT_MS } from '../../observe/until.ts';
import type { WorldOptions } from '../../world/world.ts';

/**
 * For scenarios in which nobody dies: no message comes back, no call and no attempt is given up, only
 * because the machine is slow.
 */
export const NOBODY_DIES = {
  workerEnv: { Q2T_VISIBILITY_MS: String(3 * LIMIT_MS) },
  policy: { partnerTimeoutMs: 2 * LIMIT_MS, attemptTimeoutMs: 3 * LIMIT_MS },
} as const satisfies WorldOptions;
