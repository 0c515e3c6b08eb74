import { think as callModel } from '../../../agent/think.ts';
import type { Thought } from '../../../agent/think.ts';
import { absorb } from '../../../core/agent/absorb.ts';
import { next } from '../../../core/agent/next.ts';
import { thoughtOf } from '../../../core/agent/shown.ts';
import { NotInStore } from '../../../core/agent/store.ts';
import { StepFailure } from '../../../core/failures.ts';
import { EffectFailure } from '../../ledger/effect.ts';
import { ToldFailure } from '../../steps/step.ts';
import type { StepResult } from '../../steps/step.ts';
import { follow, partsOf, stateOf } from '../follow.ts';
import type { AgentContext, AgentStepCode } from '../follow.ts';

/**
 * Asks the model, once. It takes no keys and can't be asked what it answered, so the ledger counts what
 * was sent: a call whose answer is not there is charged at its worst before the next one is made, and
 * an answer that was written down is never paid for again.
 */
export const think: AgentStepCode = async (context) => {
  const { run, input, perform } = context;
  const state = stateOf(run);
  const action = next(input, state);
  if (action.do !== 'call-model') return follow(input, state);
  const { turn, effectKey } = action;
  const dependencies = partsOf(context);
  try {
    const performed = await perform<Thought>({
      effectKey,
      step: 'think',
      partner: 'model',
      settles: false,
      timeoutMs: input.limits.modelTimeoutMs,
      mayAct(earlier) {
        if (earlier > state.lost) throw new CallsLost(earlier);
      },
      act: (call) => callModel(dependencies, input, { turn, effectKey, state }, call).catch(named),
    });
    const { answer, entry } = performed.outcome;
    const after = absorb(input, state, { kind: 'model-answered', turn, answer, entry });
    const history = [thoughtOf(turn, answer, state.spent, after.spent)];
    return follow(input, after, { history, performed });
  } catch (error) {
    // A worker that was lost with its call: whether there is money for another one is asked anew.
    if (error instanceof CallsLost) return lose(context, turn, error.calls);
    if (error instanceof EffectFailure && error.failure.failureClass === 'unknown') {
      throw new ToldFailure(error, { learnt: lose(context, turn, state.lost + 1) });
    }
    throw error;
  }
};

/** More calls are out than have been charged; nothing was sent. */
class CallsLost extends Error {
  override readonly name = 'CallsLost';
  readonly calls: number;
  constructor(calls: number) {
    super(`${calls} calls of this turn were lost`);
    this.calls = calls;
  }
}

function lose(
  { run, input }: AgentContext,
  turn: number,
  lostCalls: number,
): Extract<StepResult, { kind: 'look-again' }> {
  const agent = absorb(input, stateOf(run), { kind: 'calls-lost', turn, lostCalls });
  return {
    kind: 'look-again',
    found: { agent },
    history: [{ type: 'calls-lost', turn, lostCalls }],
  };
}

/** Looked for before the model is asked: no call was lost, and no attempt brings it back. */
function named(error: unknown): never {
  if (!(error instanceof NotInStore)) throw error;
  throw new StepFailure('never', 'not-in-store', error.message, { cause: error });
}
