import type { OrderId } from '../../../core/identity.ts';
import { until, untilPosition } from '../../observe/until.ts';
import type { World } from '../../world/world.ts';

/**
 * Waits until `where` says of each order why no code goes on with it, and `list --status stuck` has them
 * all. Returns what it says of the first, and how long the slower of the two took, ms.
 */
export async function foundStuck(
  world: World,
  ids: readonly OrderId[],
): Promise<{ reason: string; ms: number }> {
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
  await until(`${world.implementation}: ${ids.length} orders listed as stuck`, async () => {
    const stuck = await world.pipeline.list({ status: 'stuck', buyerId: world.name });
    return stuck.kind === 'runs' && stuck.runs.length === ids.length ? true : undefined;
  });
  return { reason: reasons[0] ?? '', ms: performance.now() - began };
}
