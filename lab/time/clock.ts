import { fileURLToPath } from 'node:url';

/**
 * Environment for a process on a machine whose clock is `aheadMs` ahead. Only for what asks its own
 * machine what time it is: the database and the engine have clocks of their own.
 */
export function machineAhead(aheadMs: number): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('./clock.mjs', import.meta.url))}`,
    Q2T_LAB_CLOCK_AHEAD_MS: String(aheadMs),
  };
}
