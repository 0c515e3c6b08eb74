import type { AgentPipeline } from '../../../core/agent/contract.ts';
import { requestIdOf } from '../../../core/agent/identity.ts';
import { initialState } from '../../../core/agent/state.ts';
import { takeUp, versionFor } from '../../../core/agent/take-up.ts';
import { AGENT_VERSIONS } from '../../../core/agent/versions.ts';
import type { Cannot } from '../../../core/contract.ts';
import { connectClient } from '../../connect.ts';
import type { QueueTarget } from '../../connect.ts';
import { CHAIN_AGENTS_QUEUE } from './handle.ts';
import type { AgentLink } from './turn.ts';

const cannot = (reason: string): Promise<Cannot> => Promise.resolve({ kind: 'cannot', reason });

/** An agent of a few short turns that asks nobody. */
export async function openChainAgent(target: QueueTarget): Promise<AgentPipeline> {
  const { pool, transport, close } = await connectClient(target, 'q2t-chain');
  const inBodies = 'all of it is in the body of a message, and receiving one takes it away';
  return {
    implementation: 'chain',
    /** Knows of no earlier request: the same one twice is two agents, and two orders. */
    async ask(asked) {
      const version = versionFor(asked, AGENT_VERSIONS.toReversed());
      const body: AgentLink = { input: takeUp(asked, version), state: initialState(), said: {} };
      await transport.send(pool, CHAIN_AGENTS_QUEUE, [{ body }]);
      return { kind: 'started', id: requestIdOf(asked.request) };
    },
    where: () => cannot(`no row says which turn a request is at: ${inBodies}`),
    answer: () => cannot('a chain has no pause that an answer could meet'),
    cancel: () => cannot('no message can be found by its request, so none can be stopped'),
    transcript: () => cannot(`what was said is nowhere to be read: ${inBodies}`),
    list: () => cannot(`there are messages, and no requests to list: ${inBodies}`),
    deadLetters: {
      list: () =>
        cannot('dead messages can be counted and redriven; what their model has cost is unknown'),
      replay: () => cannot('a dead message is not found by its request; redrive takes them all'),
      discard: () => cannot('a dead message is not found by its request'),
    },
    /** It has no store, so it keeps nothing there. */
    async *places() {},
    close,
  };
}
