import type { Ground } from '../world/ground.ts';
import { openWorld } from '../world/open.ts';
import type { World } from '../world/world.ts';
import type { Size, Stage } from '../scenario.ts';
import type { Job } from './job.ts';

export interface StageOptions {
  size: Size;
  seed: number;
  signal: AbortSignal;
  say: (text: string) => Promise<void>;
}

/** A stage for one job, and how to clear it afterwards. */
export function openStage(
  ground: Ground,
  { implementation, control }: Job,
  options: StageOptions,
): { stage: Stage; clear: () => Promise<void> } {
  const undo: (() => Promise<unknown>)[] = [];
  const stage: Stage = {
    implementation,
    ...options,
    world: async (worldOptions = {}) => {
      options.signal.throwIfAborted();
      const world: World = await openWorld(ground, implementation, {
        ...(control && { without: control.without }),
        ...worldOptions,
      });
      undo.push(() => world.close());
      return world;
    },
    cleanUp: (action) => {
      undo.push(action);
    },
  };
  return {
    stage,
    async clear() {
      const failures: unknown[] = [];
      // Every one of them, also after one that failed: nothing may be left.
      for (const action of undo.reverse()) await action().catch((error) => failures.push(error));
      if (failures.length > 0) throw new AggregateError(failures, 'could not clear the stage');
    },
  };
}
