import type { ClientBase } from 'pg';
import { StepFailure } from '../../core/failures.ts';
import type { UndoableStep } from '../../core/steps.ts';
import { EffectFailure, NotYet } from '../ledger/effect.ts';
import { writeUnsure, writeVoid } from '../ledger/records.ts';
import { pausePartner } from '../limits/partner-limit.ts';
import { recordAttempt } from './attempts.ts';
import type { Engine } from './engine.ts';
import { transition } from './transition.ts';
import type { Holding } from './hold.ts';
import { fail, postpone } from './failing.ts';

/** What an attempt that did not succeed leads to, written under the fence like everything else. */
export async function failed(
  engine: Engine,
  holding: Holding,
  undo: UndoableStep | undefined,
  error: unknown,
): Promise<'held' | 'released'> {
  if (error instanceof NotYet) {
    return transition(engine, holding, (run, now) => ({
      ...postpone(run, new Date(now.getTime() + error.delayMs)),
      letGo: 'come-back',
    }));
  }
  const failure = failureOf(error);
  const { policy } = holding.input;
  const { random } = engine;
  engine.metrics.failures.inc({ step: holding.run.step, class: failure.failureClass });
  return transition(engine, holding, (run, now) => {
    const moved = fail(run, { failure, policy, now, random, undo });
    const { status } = moved.run;
    const goesOn = status === 'compensating' && moved.run.parkedFor === null;
    return {
      ...moved,
      letGo: status === 'stuck' ? 'dead' : goesOn ? undefined : 'come-back',
      async write(tx) {
        const { failureClass, message } = failure;
        await recordAttempt(tx, run, holding.lease.token, { failureClass, message });
        if (error instanceof EffectFailure) await recordEffect(tx, error);
      },
    };
  });
}

/** Whatever is no answer of a partner is a bug or the database: retried within the budget, then an operator's. */
export function failureOf(error: unknown): StepFailure {
  if (error instanceof EffectFailure) return error.failure;
  if (error instanceof StepFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StepFailure('unknown', 'bug', message, { cause: error });
}

/** What is known of the request now: a question that failed leaves the effect as unsure as it was. */
export async function recordEffect(
  tx: ClientBase,
  { effect, acted, failure }: EffectFailure,
): Promise<void> {
  if (acted && failure.failureClass === 'unknown') await writeUnsure(tx, effect.effectKey);
  if (acted && failure.failureClass !== 'unknown') await writeVoid(tx, effect.effectKey);
  const { code, retryAfterMs } = failure;
  if (code === 'rate-limited' && retryAfterMs) await pausePartner(tx, effect.partner, retryAfterMs);
}
