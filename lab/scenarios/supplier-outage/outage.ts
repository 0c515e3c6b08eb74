import { z } from 'zod';
import { businessKey, type OrderId } from '../../../core/identity.ts';
import { CHAIN_QUEUE } from '../../../queue/chain/handle.ts';
import { countMessages, countsInWords, openMessages } from '../../observe/messages.ts';
import { until, untilThrough } from '../../observe/until.ts';
import type { Stage } from '../../scenario.ts';
import { passTime } from '../../time/pass.ts';
import type { World } from '../../world/world.ts';

const linkSchema = z.object({ input: z.object({ order: z.object({ orderRef: z.string() }) }) });
const OPERATOR = { by: 'olga', why: 'the supplier is back' };

/** A supplier that refuses the given orders until the end of the outage, and what one sees of it. */
export interface Outage {
  /** From now on whatever concerns the order is answered with 503. */
  refuse(id: OrderId, how: { retryAfter?: number }): Promise<void>;
  /** Every order has got as far as the supplier. */
  untilAllRefused(): Promise<void>;
  /** For the orders and the partners together. */
  pass(ms: number): Promise<void>;
  /** How often the supplier refused, by business key. */
  refusals(): Promise<Map<string, number>>;
  /** The references of orders that go on only when a person acts. */
  stopped(): Promise<string[]>;
  end(): Promise<void>;
  /** Puts back what has stopped, waits until all orders are through, and returns how many it put back. */
  letAnOperatorReplay(): Promise<number>;
  inWords(): Promise<string>;
}

export async function openOutage(
  stage: Stage,
  world: World,
  ids: readonly OrderId[],
): Promise<Outage> {
  const { partners, pipeline, implementation } = world;
  const transport = await openMessages(stage, world);

  async function refusals(): Promise<Map<string, number>> {
    const faults = await partners.faults();
    return new Map(faults.map(({ fault, struck }) => [fault.reference ?? '', struck]));
  }

  async function stopped(): Promise<string[]> {
    if (implementation === 'chain') {
      const dead = await transport.deadMessages(CHAIN_QUEUE, { limit: 1_000 });
      return dead.map(({ body }) => linkSchema.parse(body).input.order.orderRef);
    }
    const answers = await Promise.all(ids.map((id) => pipeline.where(id)));
    return answers.flatMap((answer) =>
      answer.kind === 'position' && answer.position.status === 'stuck'
        ? [answer.position.id.orderRef]
        : [],
    );
  }

  async function replayAll(): Promise<number> {
    if (implementation === 'chain') return transport.redrive(CHAIN_QUEUE);
    const refs = await stopped();
    for (const id of ids.filter(({ orderRef }) => refs.includes(orderRef))) {
      const result = await pipeline.deadLetters.replay(id, OPERATOR);
      if (result.kind !== 'accepted') throw new Error(`${id.orderRef}: ${JSON.stringify(result)}`);
    }
    return refs.length;
  }

  return {
    refusals,
    stopped,
    async refuse(id, how) {
      const effect = { kind: 'status', status: 503, ...how } as const;
      await partners.setFault({ partner: 'supplier', reference: businessKey(id), effect });
    },
    async untilAllRefused() {
      await until('every order refused by the supplier', async () => {
        const counts = await refusals();
        return ids.every((id) => (counts.get(businessKey(id)) ?? 0) > 0) ? true : undefined;
      });
    },
    pass: (ms) => passTime(world, transport, ids, ms),
    async end() {
      await partners.clearFault();
    },
    async letAnOperatorReplay() {
      const replayed = await replayAll();
      for (const id of ids) await untilThrough(world, id);
      return replayed;
    },
    async inWords() {
      const { length } = await stopped();
      const waiting = `${length} of ${ids.length} orders wait for a person`;
      if (implementation === 'temporal') return waiting;
      return `${waiting}; messages: ${countsInWords(await countMessages(transport, world))}`;
    },
  };
}
