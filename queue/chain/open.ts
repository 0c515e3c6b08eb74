import type { Cannot, Pipeline } from '../../core/contract.ts';
import { orderIdOf, toRunInput } from '../../core/order/run-input.ts';
import { noVersions } from '../../core/versions.ts';
import { defaultPolicy } from '../../core/policy.ts';
import { connectClient } from '../connect.ts';
import type { QueueTarget } from '../connect.ts';
import { CHAIN_QUEUE } from './handle.ts';
import type { Link } from './steps.ts';

const cannot = (reason: string): Promise<Cannot> => Promise.resolve({ kind: 'cannot', reason });

/** The right amount of machinery for three steps, no person, and nothing worth deduplicating. */
export async function openChain(target: QueueTarget): Promise<Pipeline> {
  const { pool, transport, close } = await connectClient(target, 'q2t-chain');
  const inBodies = 'the state is in the bodies of messages, and receiving one takes it away';
  return {
    implementation: 'chain',
    /** Knows of no earlier submit: the same order twice is two chains. Throws a LimitError for an order too large for a message. */
    async submit(order, policy = defaultPolicy) {
      const body: Link = { step: 'price', input: toRunInput(order, policy, new Date()) };
      await transport.send(pool, CHAIN_QUEUE, [{ body }]);
      return { kind: 'started', id: orderIdOf(order) };
    },
    where: () => cannot(`no row says where an order is: ${inBodies}`),
    decide: () => cannot('a chain has no pause that an answer could meet'),
    cancel: () => cannot('no message can be found by its order, so none can be stopped'),
    list: () => cannot(`there are messages, and no runs to list: ${inBodies}`),
    reset: () => cannot(`a message has no past to go back to: ${inBodies}`),
    deadLetters: {
      list: () =>
        cannot('dead messages can be counted and redriven; which effects they had is unknown'),
      replay: () => cannot('a dead message is not found by its order; redrive takes them all'),
      discard: () => cannot('what a dead message has done is not recorded, so it cannot be undone'),
      fix: () => cannot('the order is inside a message body'),
    },
    versions: noVersions('no message carries one: it meets the code of whoever receives it'),
    close,
  };
}
