import type { TestContext } from 'node:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileStore } from '../../../agent/store/files.ts';
import { think } from '../../../agent/think.ts';
import { useTool } from '../../../agent/use-tool.ts';
import { absorb } from '../../../core/agent/absorb.ts';
import type { AgentEvent } from '../../../core/agent/events.ts';
import type { AgentInput } from '../../../core/agent/input.ts';
import { next } from '../../../core/agent/next.ts';
import type { Action } from '../../../core/agent/next.ts';
import { initialState } from '../../../core/agent/state.ts';
import type { AgentState } from '../../../core/agent/state.ts';
import type { ClaimCheckStore } from '../../../core/agent/store.ts';
import { call } from '../partners/running.ts';
import { runningModel } from '../partners/model-running.ts';

export type World = Awaited<ReturnType<typeof world>>;

/** Partners with their model, and a store, of the test's own. */
export async function world(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'q2t-agent-'));
  t.after(() => rm(folder, { recursive: true }));
  return { ...(await runningModel(t)), store: await openFileStore(folder) };
}

/** What people do when they are asked. */
export type People = (asked: Action & { do: 'ask-person' }) => AgentEvent;

export const nobody: People = ({ question: { gateVersion } }) => {
  return { kind: 'nobody-answered', gateVersion };
};

export interface Driven {
  end: Action & { do: 'end' };
  actions: Action[];
  state: AgentState;
}

/**
 * Carries a run out in the plainest way: one thing after the other, in one process, nothing written
 * down. Orders are not placed but said to be completed. No engine, so no crash: only the agent.
 */
export async function drive(world: World, input: AgentInput, people = nobody): Promise<Driven> {
  const actions: Action[] = [];
  for (let state = initialState(); ;) {
    const action = next(input, state);
    actions.push(action);
    if (action.do === 'end') return { end: action, actions, state };
    for (const event of await carryOut(world, input, { action, state, people })) {
      state = absorb(input, state, event);
    }
  }
}

async function carryOut(
  { model, partners, store }: World,
  input: AgentInput,
  {
    action,
    state,
    people,
  }: { action: Exclude<Action, { do: 'end' }>; state: AgentState; people: People },
): Promise<AgentEvent[]> {
  switch (action.do) {
    case 'call-model': {
      const { turn, effectKey } = action;
      const thought = await think({ model, store }, input, { turn, effectKey, state }, call);
      return [{ kind: 'model-answered', turn, ...thought }];
    }
    case 'use-tools': {
      const tools = { ...partners, store };
      const using = action.calls.map((each) => useTool(tools, input, each, call));
      return [{ kind: 'tools-used', turn: action.turn, results: await Promise.all(using) }];
    }
    case 'ask-person':
      return [people(action)];
    case 'follow-order':
      return [{ kind: 'order-started' }, { kind: 'order-ended', outcome: 'completed' }];
    default:
      return action satisfies never;
  }
}

/** How many bytes are in the store. */
export async function storedBytes(store: ClaimCheckStore): Promise<number> {
  let sum = 0;
  for await (const { bytes } of store.storedBefore(new Date(Date.now() + 60_000))) sum += bytes;
  return sum;
}
