import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  patched,
} from '@temporalio/workflow';
import type { AgentAsk } from '../../core/agent/input.ts';
import { next } from '../../core/agent/next.ts';
import type { Action } from '../../core/agent/next.ts';
import { end } from '../position.ts';
import { Stopped } from '../run.ts';
import { ask } from './ask.ts';
import { continueAsNew, isFull } from './continue-as-new.ts';
import { listen } from './messages.ts';
import { follow } from './order.ts';
import { begin } from './run.ts';
import type { AgentResult, AgentRun, Carried } from './run.ts';
import { tell } from './tell.ts';
import { think } from './think.ts';
import { use } from './use.ts';

/**
 * One request to the buying agent, until it has bought something or given up. Returns every business
 * outcome; throws only for an input that is none.
 *
 * The version is asked for in the first execution only and carried on from there: a later one would be
 * told yes, and the run would change its prompt and its tools on the way.
 */
export async function buyingAgent(asked: AgentAsk, carried?: Carried): Promise<AgentResult> {
  const versions = !carried && patched('agent-2') ? ['2', '1'] : ['1'];
  return carryOut(begin(asked, versions, carried));
}

/** Takes the run to its end, and every message that still comes. */
export async function carryOut(run: AgentRun): Promise<AgentResult> {
  listen(run);
  // A cancel is told to the machine, which says what is to be done about it: it stops nothing else.
  return CancellationScope.nonCancellable(async () => {
    const { outcome, reason } = await untilEnded(run);
    end(run, outcome, reason);
    await condition(allHandlersFinished);
    if (run.cancel?.native && outcome === 'cancelled')
      throw new CancelledFailure(run.cancel.reason);
    return { outcome, reason, position: run.position };
  });
}

type End = Pick<AgentResult, 'outcome' | 'reason'>;

async function untilEnded(run: AgentRun): Promise<End> {
  for (;;) {
    if (run.cancel && !run.cancel.told) {
      const { by, reason } = run.cancel;
      run.cancel.told = true;
      tell(run, { kind: 'cancelled', by, reason });
    }
    const action = next(run.input, run.state);
    if (action.do === 'end') return action;
    if (action.do === 'call-model' && isFull()) {
      await continueAsNew(run);
      continue;
    }
    const given = await taken(run, action);
    if (given) return given;
  }
}

/** Does one thing, unless a cancel stops it. Returns how the run ends when an operator gives it up. */
async function taken(
  run: AgentRun,
  action: Exclude<Action, { do: 'end' }>,
): Promise<End | undefined> {
  run.doing = new CancellationScope();
  try {
    await run.doing.run(() => carriedOut(run, action));
  } catch (error) {
    if (error instanceof Stopped && error.stop.kind === 'end') {
      const { outcome, reason = '' } = error.stop;
      return { outcome, reason };
    }
    if (!isCancellation(error) || !run.cancel) throw error;
  } finally {
    delete run.doing;
  }
  return undefined;
}

function carriedOut(run: AgentRun, action: Exclude<Action, { do: 'end' }>): Promise<void> {
  switch (action.do) {
    case 'call-model':
      return think(run, action);
    case 'use-tools':
      return use(run, action);
    case 'ask-person':
      return ask(run, action);
    case 'follow-order':
      return follow(run, action);
    default:
      return action satisfies never;
  }
}
