import { keepEvidence } from '../ledger/evidence.ts';
import { currentUndo } from '../ledger/undoable.ts';
import { contextOf } from './context.ts';
import type { Engine } from './engine.ts';
import { failed } from './failed.ts';
import { fence, LeaseLost } from './fence.ts';
import type { Holding } from './hold.ts';
import { queueOfRun } from './inbox.ts';
import { loadInputOf } from './input.ts';
import { keepAlive } from './keep-alive.ts';
import { takeStep } from './take-step.ts';
import { CommitUncertain, Interrupted, transition } from './transition.ts';
import { undoNext } from './undo.ts';

/**
 * Walks a run from step to step under one lease and one wake-up, until it waits, is stuck or has
 * ended. Throws LeaseLost when another worker took the run; what was learnt by then is kept.
 */
export async function walk(engine: Engine, holding: Holding): Promise<void> {
  const alive = keepAlive(holding.lease.leaseMs, () => beat(engine, holding));
  try {
    for (;;) {
      if (engine.draining.aborted) return await handBack(engine, holding);
      const undo = await currentUndo(engine.pool, holding.run);
      const context = contextOf(engine, holding, alive.signal);
      const now = await attempt(engine, holding, undo?.step, async () => {
        if (undo) return undoNext(engine, holding, context, undo);
        return takeStep(engine, holding, context);
      });
      if (now === 'released') return;
      await followRevision(engine, holding);
    }
  } catch (error) {
    if (error instanceof LeaseLost) await keepWhatWasLearnt(engine, holding);
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
    if (error instanceof Interrupted) return 'held';
    log.warn({ err: error, token: holding.lease.token }, 'attempt failed');
    return failed(engine, holding, undo, error);
  }
}

/** A fix has begun a new revision: with its own order. */
async function followRevision(engine: Engine, holding: Holding): Promise<void> {
  const { run, input } = holding;
  if (run.revision === input.revision) return;
  holding.input = await loadInputOf(engine.pool, run.id, run.revision);
}

/** Extends the lease and the message. Only the lease decides: a stale receipt changes nothing. */
async function beat(engine: Engine, holding: Holding): Promise<boolean> {
  const { lease, message } = holding;
  try {
    const { wakeSeq } = await fence(engine.pool, lease);
    if (BigInt(wakeSeq) > BigInt(holding.seenSeq)) holding.news.abort();
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
  await engine.transport.extend(queueOfRun(lease.runId), message.receipt, lease.leaseMs + 1_000);
  return true;
}

/** A drain costs the run nothing: not an attempt, not a wait. Twice when a cancel came in between. */
async function handBack(engine: Engine, holding: Holding): Promise<void> {
  let now: 'held' | 'released' = 'held';
  while (now === 'held') {
    now = await transition(engine, holding, (run, at) => ({
      run: {
        ...run,
        attempts: Math.max(0, run.attempts - 1),
        parkedFor: run.parkedFor ?? 'retry',
        nextAttemptAt: run.parkedFor === null ? at : run.nextAttemptAt,
      },
      history: [],
      letGo: 'come-back',
    }));
  }
}

async function keepWhatWasLearnt(engine: Engine, { lease, run, learnt }: Holding): Promise<void> {
  engine.metrics.staleWrites.inc();
  for (const { effectKey, outcome } of learnt) {
    const { token, worker } = lease;
    await keepEvidence(engine.pool, { effectKey, runId: run.id, token, worker, outcome });
  }
}
