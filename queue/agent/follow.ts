import type { Action } from '../../core/agent/next.ts';
import { next } from '../../core/agent/next.ts';
import type { AgentState } from '../../core/agent/state.ts';
import type { AgentStep } from '../../core/steps.ts';
import type { HistoryEvent } from '../../core/history.ts';
import type { Performed } from '../ledger/effect.ts';
import type { AgentParts } from '../runs/engine.ts';
import type { Write } from '../runs/hold.ts';
import type { AgentRunInput } from '../runs/input.ts';
import type { Run } from '../runs/run.ts';
import type { StepCode, StepContext, StepResult } from '../steps/step.ts';

export type AgentContext = StepContext<AgentRunInput>;
export type AgentStepCode = StepCode<AgentRunInput>;

export function stateOf({ id, state }: Run): AgentState {
  if (!state.agent) throw new Error(`${id} has no state of the agent`);
  return state.agent;
}

/** Throws in a worker that was not given them; such a one has no version of the agent either. */
export function partsOf({ agent, run }: AgentContext): AgentParts {
  if (!agent) throw new Error(`${run.id}: this worker has no model and no store`);
  return agent;
}

/** The step that carries an action out; there is none for the end. */
const STEP_OF = {
  'call-model': 'think',
  'use-tools': 'use',
  'ask-person': 'ask',
  'follow-order': 'order',
} as const satisfies Record<Exclude<Action['do'], 'end'>, AgentStep>;

interface Told {
  history?: HistoryEvent[];
  performed?: Performed<unknown>;
  write?: Write;
}

/** Where the machine goes from a state: the next step, or the run's end. */
export function follow(
  input: AgentRunInput,
  state: AgentState,
  { history = [], ...rest }: Told = {},
): Extract<StepResult, { kind: 'next' | 'end' }> {
  const action = next(input, state);
  const told = { found: { agent: state }, history, ...rest };
  if (action.do !== 'end') return { kind: 'next', next: STEP_OF[action.do], ...told };
  const { outcome, reason } = action;
  return { kind: 'end', outcome, reason, ...told };
}
