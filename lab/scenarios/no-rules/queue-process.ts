import type { Stage } from '../../scenario.ts';
import { startScriptWorker, type ScriptWorker } from '../../world/script-worker.ts';
import type { World } from '../../world/world.ts';

/** What the worker serves: by the name of a version, a folder with steps, or a version of the code. */
export type Versions = Readonly<Record<string, { folder: string } | { version: string }>>;

/** Starts a worker of the queue with these versions, and waits until it is ready. */
export function startQueueWorker(
  stage: Stage,
  { databaseUrl, partnersUrl, policy }: World,
  { versions, env = {} }: { versions: Versions; env?: NodeJS.ProcessEnv },
): Promise<ScriptWorker> {
  return startScriptWorker(stage, 'lab/scenarios/no-rules/queue-worker.ts', {
    DATABASE_URL: databaseUrl,
    PARTNERS_URL: partnersUrl,
    Q2T_VISIBILITY_MS: String(policy.heartbeatMs),
    Q2T_LAB_VERSIONS: JSON.stringify(versions),
    ...env,
  });
}
