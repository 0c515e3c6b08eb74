import { keepEvidence } from '../ledger/evidence.ts';
import type { Performed } from '../ledger/effect.ts';
import { writeOutcome } from '../ledger/records.ts';
import { currentUndo } from '../ledger/undoable.ts';
import { withTransaction } from '../database.ts';
import type { StepResult } from '../steps/step.ts';
import { contextOf } from './context.ts';
import type { Engine } from './engine.ts';
import { failed } from './failed.ts';
import { fence, LeaseLost } from './fence.ts';
import { CommitUncertain, transition } from './hold.ts';
import type { Change, Holding } from './hold.ts';
import { ORDERS_QUEUE } from './inbox.ts';
import { loadInput } from './input.ts';
import { keepAlive } from './keep-alive.ts';
import type { Run } from './run.ts';
import { advance, compensate, compensated, giveUp, park } from './transitions.ts';
import { undoNext } from './undo.ts';

/**
 * Walks a run from step to step under one lease and one wake-up, until it waits, is stuck or has
 * ended. Throws LeaseLost when another worker took the run; what was learnt by then is kept.
 */
export async function walk(engine: Engine, holding: Holding): Promise<void> {
  const { lease } = holding;
  const alive = keepAlive(lease.leaseMs, () => beat(engine, holding));
  const learnt: Performed<unknown>[] = [];
  try {
    for (;;) {
      if (engine.draining.aborted) return await handBack(engine, holding);
      const undo = await currentUndo(engine.pool, holding.run);
      const context = contextOf(engine, holding, alive.signal, learnt);
      const now = await attempt(engine, holding, undo?.step, async () => {
        if (undo) return undoNext(engine, holding, context, undo);
        return takeStep(engine, holding, context);
      });
      if (now === 'released') return;
      learnt.length = 0;
      await followRevision(engine, holding);
    }
  } catch (error) {
    if (error instanceof LeaseLost) await keepWhatWasLearnt(engine, holding, learnt);
    throw error;
  } finally {
    alive.stop();
  }
}

/** One attempt of a step or an undo, and what its failure leads to. */
async function attempt(
  engine: Engine,
  holding: Holding,
  undo: Parameters<typeof failed>[2],
  work: () => Promise<'held' | 'released'>,
): Promise<'held' | 'released'> {
  const { step, attempts } = holding.run;
  const log = engine.log.child({ runId: holding.run.id, step: undo ?? step, attempt: attempts });
  try {
    return await work();
  } catch (error) {
    if (error instanceof LeaseLost || error instanceof CommitUncertain) throw error;
    log.warn({ err: error, token: holding.lease.token }, 'attempt failed');
    return failed(engine, holding, undo, error);
  }
}

async function takeStep(
  engine: Engine,
  holding: Holding,
  context: ReturnType<typeof contextOf>,
): Promise<'held' | 'released'> {
  if (holding.run.state.ending) {
    return transition(engine, holding, (run) => ends(compensated(run)));
  }
  const code = engine.pipelines.of(holding.run.version).steps[holding.run.step];
  const result = await code(context);
  return transition(engine, holding, (run, now) => changeOf(run, result, now));
}

/** What a step's result means for its run. */
function changeOf(run: Run, result: StepResult, now: Date): Change {
  switch (result.kind) {
    case 'done': {
      const { detail, found, performed, write } = result;
      return { ...ends(advance(run, detail, found)), write: both(performed, write) };
    }
    case 'park': {
      const { parkedFor, waitingFor, history = [], write } = result;
      const { run: parked } = park(run, parkedFor, waitingFor ?? null);
      return { run: parked, history, letGo: 'ack', write };
    }
    case 'give-up':
      return { ...giveUp(run, result.reason, now), letGo: 'dead' };
    case 'end': {
      const { outcome, reason, performed, history = [], write } = result;
      const moved = compensate(run, { kind: 'end', outcome, reason });
      return { run: moved.run, history, write: both(performed, write) };
    }
    default:
      return result satisfies never;
  }
}

function both(performed: Performed<unknown> | undefined, write: Change['write']): Change['write'] {
  return async (tx, now) => {
    if (performed) await writeOutcome(tx, performed.effectKey, performed.outcome);
    await write?.(tx, now);
  };
}

/** An ended run needs its wake-up no longer; any other goes on under the same lease. */
function ends(moved: { run: Run; history: Change['history'] }): Change {
  return moved.run.status === 'ended' ? { ...moved, letGo: 'ack' } : moved;
}

/** A fix has begun a new revision: with its own order. */
async function followRevision(engine: Engine, holding: Holding): Promise<void> {
  const { run, input } = holding;
  if (run.revision === input.revision) return;
  holding.input = await loadInput(engine.pool, run.id, run.revision);
}

/** Extends the lease and the message. Only the lease decides: a stale receipt changes nothing. */
async function beat(engine: Engine, { lease, message }: Holding): Promise<boolean> {
  try {
    await withTransaction(engine.pool, (tx) => fence(tx, lease));
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
  await engine.transport.extend(ORDERS_QUEUE, message.receipt, lease.leaseMs + 1_000);
  return true;
}

/** A drain costs the run nothing: not an attempt, not a wait. */
async function handBack(engine: Engine, holding: Holding): Promise<void> {
  await transition(engine, holding, (run, now) => ({
    run: {
      ...run,
      attempts: Math.max(0, run.attempts - 1),
      parkedFor: run.parkedFor ?? 'retry',
      nextAttemptAt: run.parkedFor === null ? now : run.nextAttemptAt,
    },
    history: [],
    letGo: 'come-back',
  }));
}

async function keepWhatWasLearnt(
  engine: Engine,
  { lease, run }: Holding,
  learnt: readonly Performed<unknown>[],
): Promise<void> {
  engine.metrics.staleWrites.inc();
  for (const { effectKey, outcome } of learnt) {
    const { token, worker } = lease;
    await keepEvidence(engine.pool, { effectKey, runId: run.id, token, worker, outcome });
  }
}
