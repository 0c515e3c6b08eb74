import type { OrderId } from '../../../core/identity.ts';
import { until, untilPosition } from '../../observe/until.ts';
import type { World } from '../../world/world.ts';

export interface Found {
  /** How many `list` has. */
  listed: number;
  /** What `where` says of the first. */
  reason: string;
  /** How long the slower of the two took. */
  ms: number;
}

/**
 * Waits until `where` says of each order why no code goes on with it, and `list --status stuck` has them
 * all.
 */
export async function foundStuck(world: World, ids: readonly OrderId[]): Promise<Found> {
  const began = performance.now();
  const reasons: string[] = [];
  for (const id of ids) {
    const { stalled } = await untilPosition(
      world,
      id,
      (position) => position.stalled !== undefined,
    );
    reasons.push(stalled?.reason ?? '');
  }
  const listed = await until(
    `${world.implementation}: ${ids.length} orders listed as stuck`,
    async () => {
      const stuck = await world.pipeline.list({ status: 'stuck', buyerId: world.name });
      return stuck.kind === 'runs' && stuck.runs.length === ids.length ? ids.length : undefined;
    },
  );
  return { listed, reason: reasons[0] ?? '', ms: performance.now() - began };
}
