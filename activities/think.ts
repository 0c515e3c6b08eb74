import { think } from '../agent/think.ts';
import type { ThinkDependencies, ThinkInput, Thought, Turn } from '../agent/think.ts';
import { NotInStore } from '../core/agent/store.ts';
import { StepFailure } from '../core/failures.ts';
import { attempt } from './attempt.ts';
import type { AttemptCall } from './attempt.ts';

export type { Thought } from '../agent/think.ts';

export interface ThinkCall extends AttemptCall, Turn {
  input: ThinkInput;
}

export function thinkActivities({ model, store }: ThinkDependencies) {
  return {
    /**
     * One call of the model. Never retried by the engine: whoever asked counts what was lost. A failure
     * of class `unknown`, or one without a class, may have been paid for; every other one was not.
     */
    think: ({ input, turn, effectKey, state, ...call }: ThinkCall): Promise<Thought> =>
      attempt(call, async ({ effect }) => {
        let asked = false;
        const complete: ThinkDependencies['model']['complete'] = (question) => {
          const within = effect();
          asked = true;
          return model.complete(question, within);
        };
        const turnOf = { turn, effectKey, state };
        // The call is made when the transcript has been read, so its limits are asked for then.
        const unused = { timeoutMs: call.limits.partnerTimeoutMs };
        try {
          return await think({ model: { complete }, store }, input, turnOf, unused);
        } catch (error) {
          throw asked ? error : notAsked(error);
        }
      }),
  };
}

/** What went wrong before the model was asked cost nothing, and most of it no other attempt will cure. */
function notAsked(error: unknown): unknown {
  if (error instanceof StepFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NotInStore) {
    return new StepFailure('never', 'not-in-store', message, { cause: error });
  }
  // Of a version that this worker does not have.
  if (error instanceof RangeError) {
    return new StepFailure('never', 'no-version', message, { cause: error });
  }
  return new StepFailure('busy', 'store', message, { cause: error });
}
