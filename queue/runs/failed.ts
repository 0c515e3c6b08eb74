import type { ClientBase } from 'pg';
import { StepFailure } from '../../core/failures.ts';
import type { UndoableStep } from '../../core/steps.ts';
import { EffectFailure, NotYet } from '../ledger/effect.ts';
import { ToldFailure } from '../steps/step.ts';
import { writeUnsure, writeVoid } from '../ledger/records.ts';
import { pausePartner } from '../limits/partner-limit.ts';
import { recordAttempt } from './attempts.ts';
import type { Engine } from './engine.ts';
import { transition } from './transition.ts';
import type { Change, Holding } from './hold.ts';
import type { Run } from './run.ts';
import { fail, postpone } from './failing.ts';
import { looksAgain, next } from './take-step.ts';
import type { Moved } from './transitions.ts';

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
  const { told, learnt, onGiveUp } = toldOf(error);
  const failure = failureOf(told);
  const { policy } = holding.input;
  const { random } = engine;
  engine.metrics.failures.inc({ step: holding.run.step, class: failure.failureClass });
  return transition(engine, holding, (run, now) => {
    const change = leadsTo(run, { learnt, onGiveUp }, (from) =>
      fail(from, { failure, policy, now, random, undo }),
    );
    return {
      ...change,
      async write(tx) {
        const { failureClass, message } = failure;
        await recordAttempt(tx, run, holding.lease.token, { failureClass, message });
        if (told instanceof EffectFailure) await recordEffect(tx, told);
      },
    };
  });
}

function toldOf(error: unknown): Pick<ToldFailure, 'told' | 'learnt' | 'onGiveUp'> {
  return error instanceof ToldFailure
    ? error
    : { told: error, learnt: undefined, onGiveUp: undefined };
}

function leadsTo(
  run: Run,
  { learnt, onGiveUp }: Pick<ToldFailure, 'learnt' | 'onGiveUp'>,
  failing: (run: Run) => Moved,
): Change {
  const known = learnt ? looksAgain(run, learnt) : { run, history: [] };
  const failed = failing(known.run);
  const { status, parkedFor } = failed.run;
  if (status === 'stuck' && onGiveUp) return next(run, onGiveUp);
  const goesOn = status === 'compensating' && parkedFor === null;
  return {
    run: failed.run,
    history: [...known.history, ...failed.history],
    letGo: status === 'stuck' ? 'dead' : goesOn ? undefined : 'come-back',
  };
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
