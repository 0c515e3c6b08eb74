import { join } from 'node:path';
import { stateDir } from './runtime.mjs';

/** Held by the running `npm run up` of this checkout. */
export const upLock = join(stateDir, 'up.lock');
/** Where its data stays unless a flag says otherwise. */
export const defaultDataDir = join(stateDir, 'data');
