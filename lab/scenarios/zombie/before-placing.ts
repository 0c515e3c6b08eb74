import { businessKey, orderIdOf, type OrderId } from '../../../core/identity.ts';
import type { Stage } from '../../scenario.ts';
import type { Boundary } from '../../wire/boundary.ts';
import type { World } from '../../world/world.ts';

/** An order whose worker has decided to place it and has not asked the supplier yet. */
export interface Deciding {
  id: OrderId;
  /** Lets the answer through on which the worker acts. */
  letGo(): Promise<unknown>;
}

/** The write after which a worker acts: the claim of the message, the intent in the ledger. */
const LAST_WRITE = { chain: 'q2t_claim', queue: 'ledger-intent' } as const;

/**
 * Submits an order and holds back the last answer its worker needs before it places it: on Temporal the
 * supplier's, that nothing is placed yet; elsewhere the database's.
 */
export async function stopBeforePlacing(
  { cleanUp }: Stage,
  world: World,
  orderRef: string,
): Promise<Deciding> {
  const { implementation, partners } = world;
  const order = world.order(orderRef);
  const id = orderIdOf(order);
  const reference = businessKey(id);
  const hang = { reference, times: 1, effect: { kind: 'hang-after' } } as const;
  if (implementation === 'temporal') {
    const faultId = await partners.setFault({ ...hang, partner: 'supplier', operation: 'find' });
    await world.pipeline.submit(order, world.policy);
    await partners.waitUntilHeld({ faultId }, 60_000);
    return { id, letGo: () => partners.release(faultId) };
  }
  const run = world.watch(id);
  const faultId = await partners.setFault({ ...hang, partner: 'payments', operation: 'charge' });
  await world.pipeline.submit(order, world.policy);
  await partners.waitUntilHeld({ faultId }, 60_000);
  const answer = Promise.withResolvers<void>();
  // The wire can't close while it holds something, whatever becomes of the scenario.
  cleanUp(() => Promise.resolve(answer.resolve()));
  // The charge is made: what comes next is the placing.
  const armed = world.wire.arm({
    at: (boundary: Boundary) =>
      boundary.run === run && boundary.what.includes(LAST_WRITE[implementation]),
    side: 'after',
    action: 'delay',
    meanwhile: () => answer.promise,
  });
  await partners.release(faultId);
  await armed.fired;
  return {
    id,
    letGo: async () => {
      answer.resolve();
      await armed.done;
    },
  };
}
