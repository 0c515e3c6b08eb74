import { writeOutcome, writeUndone } from '../ledger/records.ts';
import { NotYet } from '../ledger/effect.ts';
import type { Undoable } from '../ledger/undoable.ts';
import { settleOriginal } from '../ledger/settle.ts';
import type { StepContext } from '../steps/step.ts';
import type { Engine } from './engine.ts';
import { transition } from './transition.ts';
import type { Holding } from './hold.ts';
import type { AnyInput } from './input.ts';
import { undone } from './transitions.ts';

/**
 * Takes back the newest effect. When nobody knows whether it happened, first waits until its request
 * must have landed: what lands after its undo would stay for ever. Throws NotYet for that wait.
 */
export async function undoNext(
  engine: Engine,
  holding: Holding,
  context: StepContext<AnyInput>,
  { step, effectKey, unsure }: Undoable,
): Promise<'held' | 'released'> {
  if (unsure) {
    const waitMs = await settleOriginal(engine.pool, holding, effectKey);
    if (waitMs > 0) throw new NotYet(waitMs, `the request of ${step} may still land`);
  }
  const code = engine.pipelines.of(holding.run.version).undos[step];
  // Only an order has undos.
  const { happened, performed } = await code(context as StepContext);
  return transition(engine, holding, (run) => ({
    ...undone(run, step, happened),
    async write(tx) {
      if (performed) await writeOutcome(tx, performed.effectKey, performed.outcome);
      await writeUndone(tx, effectKey, 'undone');
    },
  }));
}
