import { refOf } from '../../../agent/store/ref-of.ts';
import { think } from '../../../agent/think.ts';
import { useTool } from '../../../agent/use-tool.ts';
import { absorb } from '../../../core/agent/absorb.ts';
import type { AgentInput } from '../../../core/agent/input.ts';
import { next } from '../../../core/agent/next.ts';
import type { Action } from '../../../core/agent/next.ts';
import type { AgentState } from '../../../core/agent/state.ts';
import { NotInStore } from '../../../core/agent/store.ts';
import type { ClaimCheckStore, Ref } from '../../../core/agent/store.ts';
import { StepFailure } from '../../../core/failures.ts';
import { toRunInput } from '../../../core/order/run-input.ts';
import type { Call, Model, Partners } from '../../../partners/contract.ts';
import type { Link } from '../steps.ts';

/** The whole run, as it travels: where it is, and every word that was said. It only grows. */
export interface AgentLink {
  input: AgentInput;
  state: AgentState;
  said: Record<Ref, string>;
}

interface Means {
  model: Pick<Model, 'complete'>;
  partners: Partners;
}

/** What the next message is: the run's own, or the first one of the order that came of it. */
export type NextOfAgent = { agent: AgentLink } | { order: Link } | 'ended';

/**
 * One turn of the agent: a call of the model, and the tools of its answer in place. No ledger: a worker
 * that dies before the next message is sent has all of it done, and paid, again. Throws StepFailure.
 */
export async function takeTurn(link: AgentLink, means: Means): Promise<NextOfAgent> {
  const { input, state } = link;
  const action = next(input, state);
  switch (action.do) {
    case 'call-model': {
      const answered = await callModel(link, action, means);
      const wanted = next(input, answered.state);
      return { agent: wanted.do === 'use-tools' ? await use(answered, wanted, means) : answered };
    }
    case 'use-tools':
      return { agent: await use(link, action, means) };
    case 'ask-person':
      throw new StepFailure('never', 'needs-a-person', 'a chain has nowhere to wait for a person');
    case 'follow-order': {
      // Handed on and forgotten: nothing here could hear how the order ends.
      const order = toRunInput(action.order, input.policy, new Date());
      return { order: { step: 'price', input: order } };
    }
    case 'end':
      return 'ended';
    default:
      return action satisfies never;
  }
}

async function callModel(
  { input, state, said }: AgentLink,
  { turn, effectKey }: Action & { do: 'call-model' },
  { model }: Means,
): Promise<AgentLink> {
  const kept = new Map(Object.entries(said));
  const call: Call = { timeoutMs: input.limits.modelTimeoutMs };
  const asking = { turn, effectKey, state };
  const thought = await think({ model, store: storeInBody(kept) }, input, asking, call);
  const after = absorb(input, state, { kind: 'model-answered', turn, ...thought });
  return { input, state: after, said: Object.fromEntries(kept) };
}

async function use(
  { input, state, said }: AgentLink,
  { turn, calls }: Action & { do: 'use-tools' },
  { partners }: Means,
): Promise<AgentLink> {
  const kept = new Map(Object.entries(said));
  const call: Call = { timeoutMs: input.policy.partnerTimeoutMs };
  const tools = { ...partners, store: storeInBody(kept) };
  const results = await Promise.all(calls.map((each) => useTool(tools, input, each, call)));
  const after = absorb(input, state, { kind: 'tools-used', turn, results });
  return { input, state: after, said: Object.fromEntries(kept) };
}

/** What was said, in the message itself: the claim-check store of somebody who has none. */
function storeInBody(kept: Map<string, string>): ClaimCheckStore {
  return {
    put(content) {
      const ref = refOf(content);
      kept.set(ref, new TextDecoder().decode(content));
      return Promise.resolve(ref);
    },
    async get(ref) {
      const text = kept.get(ref);
      if (text === undefined) throw new NotInStore(ref, 'is not in the message');
      return new TextEncoder().encode(text);
    },
    // The message goes with all that is in it: there is nothing to collect.
    async *storedBefore() {},
    remove: () => Promise.resolve(false),
  };
}
