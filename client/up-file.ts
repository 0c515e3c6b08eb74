import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { stateDir } from '../stack/runtime.mjs';

/** What `npm run up` writes to `.q2t/up.json` for the command line. */
export const upSchema = z.object({
  pid: z.number(),
  /** Tells this process from a later one with the same pid. */
  identity: z.string().optional(),
  startedAt: z.string(),
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().optional(),
  databaseUrl: z.string(),
  partnersUrl: z.string(),
  taskQueue: z.string(),
  dataDir: z.string(),
  /** Has a claim-check store for each implementation, in a folder of its name. */
  storeDir: z.string(),
  /** The model that its workers know, when that is the user's own. Neither its address nor its key. */
  agent: z
    .object({
      model: z.string(),
      price: z.object({ inputNanoEurPerToken: z.number(), outputNanoEurPerToken: z.number() }),
    })
    .optional(),
});
export type Up = z.infer<typeof upSchema>;

export const upFile = join(stateDir, 'up.json');

/** The `up` of this checkout that is running, undefined when none is. */
export function readUp(file = upFile): Up | undefined {
  let up: Up;
  try {
    up = upSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
  return isRunning(up.pid) ? up : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a process too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
