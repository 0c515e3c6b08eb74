import type { Performed } from '../ledger/effect.ts';
import { writeOutcome } from '../ledger/records.ts';
import type { StepContext, StepResult } from '../steps/step.ts';
import type { Engine } from './engine.ts';
import { giveUp } from './failing.ts';
import { carry } from './hold.ts';
import type { Change, Holding } from './hold.ts';
import type { AnyInput } from './input.ts';
import { kindOfRun } from './run.ts';
import type { Run } from './run.ts';
import { stays, transition } from './transition.ts';
import { advance, compensate, compensated, goOn, park, stop } from './transitions.ts';
import type { Moved } from './transitions.ts';

/**
 * Takes the step at the cursor. Its code reads, and may perform one effect: intent, ask, act. What it
 * came to is carried to the transaction that begins the next step, or committed here when there is
 * none: the run parks, is stuck, turns back or ends.
 */
export async function takeStep(
  engine: Engine,
  holding: Holding,
  context: StepContext<AnyInput>,
): Promise<'held' | 'released'> {
  if (holding.run.state.ending) {
    return transition(engine, holding, (run) => ends(compensated(run)));
  }
  const { version, step } = holding.run;
  const code = engine.pipelines.of(version).steps[step];
  if (!code) throw new Error(`version ${version} has no step ${step}`);
  // A version has the steps of one kind of run, and they take that kind's input.
  const result = await code(context as StepContext<never>);
  switch (result.kind) {
    case 'done': {
      const change = done(holding.run, result);
      if (change.letGo) return transition(engine, holding, () => change);
      carry(holding, change);
      return 'held';
    }
    case 'next':
      carry(holding, next(holding.run, result));
      return 'held';
    case 'look-again':
      carry(holding, looksAgain(holding.run, result));
      return 'held';
    case 'park':
      // A cancel that is there first stops the wait, the question, the invoice from coming to be.
      return transition(engine, holding, stays, (run) => parks(run, result));
    case 'give-up':
      return transition(engine, holding, (run, now) => ({
        ...giveUp(run, result.reason, now),
        letGo: 'dead',
      }));
    case 'end':
      return transition(engine, holding, (run) => turnsBack(run, result));
    default:
      return result satisfies never;
  }
}

type Result<Kind extends StepResult['kind']> = Extract<StepResult, { kind: Kind }>;

function done(run: Run, { detail, found, performed, write }: Result<'done'>): Change {
  return { ...ends(advance(run, detail, found)), write: both(performed, write) };
}

/** What the agent's step came to. */
export function next(run: Run, result: Result<'next'>): Change {
  const { next: step, found, history, performed, write } = result;
  return { run: goOn(run, step, found), history, write: both(performed, write) };
}

/** The same step, with what it has learnt. */
export function looksAgain(run: Run, { found, history }: Result<'look-again'>): Change {
  return { run: { ...run, state: { ...run.state, ...found } }, history };
}

function parks(run: Run, result: Result<'park'>): Change {
  const { parkedFor, waitingFor, history = [], found, write } = result;
  const { run: parked } = park(run, parkedFor, waitingFor ?? null);
  return { run: { ...parked, state: { ...run.state, ...found } }, history, letGo: 'ack', write };
}

/** An order undoes what it did; the agent has done nothing that could be undone. */
function turnsBack(run: Run, result: Result<'end'>): Change {
  const { outcome, reason, found, performed, history = [], write } = result;
  const learnt: Run = { ...run, state: { ...run.state, ...found } };
  const moved =
    kindOfRun(run.id) === 'agent'
      ? stop(learnt, outcome, reason)
      : compensate(learnt, { kind: 'end', outcome, reason });
  const change = ends({ run: moved.run, history: [...history, ...moved.history] });
  return { ...change, write: both(performed, write) };
}

function both(performed: Performed<unknown> | undefined, write: Change['write']): Change['write'] {
  return async (tx, now) => {
    if (performed) await writeOutcome(tx, performed.effectKey, performed.outcome);
    await write?.(tx, now);
  };
}

/** An ended run needs its wake-up no longer; any other goes on under the same lease. */
function ends(moved: Moved): Change {
  return moved.run.status === 'ended' ? { ...moved, letGo: 'ack' } : moved;
}
