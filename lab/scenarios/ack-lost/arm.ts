import type { Boundary } from '../../wire/boundary.ts';
import type { Armed } from '../../wire/fault.ts';
import type { World } from '../../world/world.ts';

/** What does not arrive: the request, the answer to it, or the answer to a worker that dies of it. */
export type Loss = 'answer' | 'request' | 'answer-and-worker';

/**
 * Arms the loss of the next write of `run`. Between Postgres and its client a loss is the end of the
 * connection; a call to Temporal can be lost alone.
 */
export function armLoss(
  world: World,
  run: string,
  loss: Loss,
  killAndReplace: () => Promise<void>,
): Armed<Boundary> {
  const at = (boundary: Boundary) => boundary.run === run;
  const onTemporal = world.implementation === 'temporal';
  switch (loss) {
    case 'answer':
      return onTemporal
        ? world.temporalWire.arm({ at, side: 'after', action: 'lose-answer' })
        : world.wire.arm({ at, side: 'after', action: 'cut' });
    case 'request':
      return onTemporal
        ? world.temporalWire.arm({ at, side: 'before', action: 'drop-request' })
        : world.wire.arm({ at, side: 'before', action: 'cut' });
    case 'answer-and-worker':
      return world.wire.arm({
        at,
        side: 'after',
        action: 'stop-the-world',
        meanwhile: killAndReplace,
      });
    default:
      return loss satisfies never;
  }
}
