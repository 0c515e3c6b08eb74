import { z } from 'zod';
import { nextDelay } from '../../core/backoff.ts';
import { withTransaction } from '../database.ts';
import { EffectFailure, NotYet } from '../ledger/effect.ts';
import type { Performed, Performer } from '../ledger/effect.ts';
import { keepEvidence } from '../ledger/evidence.ts';
import { writeOutcome } from '../ledger/records.ts';
import type { Engine } from '../runs/engine.ts';
import { failureOf } from '../runs/failed.ts';
import { LeaseLost } from '../runs/fence.ts';
import { keepAlive } from '../runs/keep-alive.ts';
import type { ReceivedMessage } from '../transport/contract.ts';
import type { ChildOutcome, ChildQueue } from './children.ts';
import { fenceChild } from './fence-child.ts';
import { finishChild } from './finish-child.ts';
import { retryChild } from './retry-child.ts';
import { takeChild } from './take-child.ts';
import type { HeldChild } from './take-child.ts';

/** What a child does. Throws StepFailure, or what `perform` throws. */
export type ChildCode = (
  engine: Engine,
  child: HeldChild,
  performer: Performer,
) => Promise<{ value: string; performed?: Performed<unknown> }>;

const childSchema = z.object({ joinId: z.string().min(1), childId: z.string().min(1) });

/** Handles one child's message. Throws what the database throws before the child is taken: the message comes back then. */
export async function workOnChild(
  engine: Engine,
  queue: ChildQueue,
  code: ChildCode,
  message: ReceivedMessage,
): Promise<void> {
  const body = childSchema.safeParse(message.body);
  if (!body.success) {
    await engine.transport.deadLetter(queue, message.receipt, 'not a child: no joinId or childId');
    return;
  }
  let reserved = engine.suspects.reserve();
  const free = () => {
    if (reserved) engine.suspects.free();
    reserved = false;
  };
  try {
    const child = await takeChild(engine, queue, body.data, message, reserved);
    if (child?.lostWorkers === 0) free();
    if (child) await holdChild(engine, code, child);
  } finally {
    free();
  }
}

async function holdChild(engine: Engine, code: ChildCode, child: HeldChild): Promise<void> {
  const alive = keepAlive(child.leaseMs, () => beat(engine, child));
  const learnt: Performed<unknown>[] = [];
  const log = engine.log.child({ runId: child.runId, childId: child.childId });
  try {
    await carryOut(engine, child, code, performerOf(engine, child, alive.signal), learnt);
  } catch (error) {
    if (error instanceof LeaseLost) {
      log.warn({ err: error }, 'another worker has the child');
      await keepWhatWasLearnt(engine, child, learnt);
      return;
    }
    log.error({ err: error }, 'the child is left to the next worker');
    await retryChild(engine, child, { delayMs: 1_000 }).catch((failure: unknown) => {
      // The database is away: the lease runs out and the message comes back by themselves.
      log.error({ err: failure }, 'could not hand the child back');
    });
  } finally {
    alive.stop();
  }
}

async function keepWhatWasLearnt(
  engine: Engine,
  { runId, token }: HeldChild,
  learnt: readonly Performed<unknown>[],
): Promise<void> {
  engine.metrics.leaseLosses.inc();
  engine.metrics.staleWrites.inc();
  for (const { effectKey, outcome } of learnt) {
    await keepEvidence(engine.pool, { effectKey, runId, token, worker: engine.worker, outcome });
  }
}

async function carryOut(
  engine: Engine,
  child: HeldChild,
  code: ChildCode,
  performer: Performer,
  learnt: Performed<unknown>[],
): Promise<void> {
  if (child.lostWorkers > child.policy.maxLostWorkers) {
    const message = `${child.lostWorkers} workers were lost with it`;
    return finishChild(engine, child, { kind: 'failed', failureClass: 'lost-worker', message });
  }
  const done = await code(engine, child, performer).catch(async (error: unknown) => {
    if (error instanceof LeaseLost) throw error;
    if (error instanceof NotYet) await retryChild(engine, child, { delayMs: error.delayMs });
    else await failChild(engine, child, error);
    return undefined;
  });
  if (!done) return;
  const { value, performed } = done;
  if (performed) learnt.push(performed);
  await finishChild(engine, child, { kind: 'ok', value }, async (tx) => {
    if (performed) await writeOutcome(tx, performed.effectKey, performed.outcome);
  });
}

/** Another attempt later, or the one outcome that says it will not be. */
async function failChild(engine: Engine, child: HeldChild, error: unknown): Promise<void> {
  const effect = error instanceof EffectFailure ? error : undefined;
  const failure = failureOf(error);
  engine.metrics.failures.inc({ step: child.queue, class: failure.failureClass });
  const { failureClass, message, retryAfterMs } = failure;
  const spent = (failureClass === 'missing' ? child.missingFailures : child.failures) + 1;
  const delayMs = nextDelay(failureClass, spent, child.policy, engine.random, retryAfterMs);
  if (delayMs !== 'give-up') {
    return retryChild(engine, child, { delayMs, failure, effect });
  }
  const outcome: ChildOutcome =
    failureClass === 'refused'
      ? { kind: 'refused', message }
      : { kind: 'failed', failureClass, message };
  await finishChild(engine, child, outcome);
}

function performerOf(engine: Engine, child: HeldChild, signal: AbortSignal): Performer {
  const fenced: Performer['fenced'] = (work) =>
    withTransaction(engine.pool, async (tx) => {
      await fenceChild(tx, child);
      return work(tx);
    });
  return {
    token: child.token,
    leasedAt: child.leasedAt,
    leaseMs: child.leaseMs,
    begin: fenced,
    fenced,
    policy: child.policy,
    metrics: engine.metrics,
    signal,
  };
}

async function beat(engine: Engine, child: HeldChild): Promise<boolean> {
  try {
    await fenceChild(engine.pool, child);
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
  await engine.transport.extend(child.queue, child.message.receipt, child.leaseMs + 1_000);
  return true;
}
