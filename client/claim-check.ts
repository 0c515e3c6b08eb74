import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openFileStore } from '../agent/store/files.ts';
import type { ClaimCheckStore } from '../core/agent/store.ts';
import { CommandError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { Session } from './session.ts';
import { resolveTarget, usesUp } from './target.ts';
import { readUp } from './up-file.ts';

export interface OpenStore {
  store: ClaimCheckStore;
  folder: string;
}

/**
 * The claim-check store of the implementation's workers: Q2T_STORE_DIR as they have it, otherwise that of
 * the running `npm run up` when that is what the command works on. Throws a CommandError when there is none.
 */
export async function openStoreOf({ on, env }: Pick<Session, 'on' | 'env'>): Promise<OpenStore> {
  const up = usesUp(resolveTarget(on, env)) ? readUp() : undefined;
  const folder = env['Q2T_STORE_DIR'] || (up && join(up.storeDir, on));
  if (folder === undefined) {
    throw new CommandError(EXIT.unexpected, 'Nobody says where the claim-check store is.', {
      hint: `Set Q2T_STORE_DIR to the folder that the workers of ${on} have.`,
    });
  }
  if (!existsSync(folder)) {
    throw new CommandError(EXIT.unexpected, `There is no claim-check store at ${folder}.`, {
      hint: `Workers of ${on} make it when they start; Q2T_STORE_DIR names the folder that they have.`,
    });
  }
  return { store: await openFileStore(folder), folder };
}
