import type { AgentPosition } from '../../core/agent/contract.ts';
import { orderIdOfRequest } from '../../core/agent/identity.ts';
import type { Spent } from '../../core/agent/spend.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import type { World } from '../world/world.ts';
import type { Counts } from './effects.ts';
import { LIMIT_MS, until } from './until.ts';

/** The first position of the agent's run that is as `matches` says. Throws on an implementation that can't say. */
export async function untilAgent(
  world: World,
  id: OrderId,
  matches: (position: AgentPosition) => boolean,
  limitMs = LIMIT_MS,
): Promise<AgentPosition> {
  const { pipeline } = await world.agents();
  try {
    return await until(
      `${world.implementation}: the agent of ${id.orderRef} where it should be`,
      async () => {
        const answer = await pipeline.where(id);
        if (answer.kind === 'cannot') throw new Error(`where can't be asked: ${answer.reason}`);
        return answer.kind === 'position' && matches(answer.position) ? answer.position : undefined;
      },
      limitMs,
    );
  } catch (error) {
    throw new Error(`${String(error)}; it is ${await agentInWords(world, id)}`, { cause: error });
  }
}

export const hasEnded = ({ status }: AgentPosition) => status === 'ended';

/** Where an agent is, for people. */
export async function agentInWords(world: World, id: OrderId): Promise<string> {
  const { pipeline } = await world.agents();
  const answer = await pipeline.where(id);
  if (answer.kind === 'cannot') return `cannot say: ${answer.reason}`;
  if (answer.kind === 'not-found') return 'not found';
  const { step, status, turn, outcome, waitingFor } = answer.position;
  const waits = waitingFor ? `, waiting for ${waitingFor.kind}` : '';
  return `at step ${step}, ${status}, turn ${turn}${waits}${outcome ? `, ${outcome}` : ''}`;
}

/** What the partners have of a request: answers of the model that are paid for, and what its order did. */
export async function agentCounts({ partners }: World, id: OrderId): Promise<Counts> {
  const [own, orders] = await Promise.all([
    partners.counts(businessKey(id)),
    partners.counts(businessKey(orderIdOfRequest(id))),
  ]);
  return { ...orders, completion: own.completion };
}

/**
 * What is wrong with what was paid for, in words: less than the answers there are, or more than was
 * charged. A call that was lost is charged, and may have been paid for.
 */
export function wronglyPaid(paid: number, { calls, lostCalls }: Spent): string | undefined {
  if (paid > calls + lostCalls) return 'paid for more answers than it has charged';
  return paid < calls ? 'has more answers than were paid for' : undefined;
}

/** How often the model was paid for each turn: turn by turn, the first one first. */
export async function paidPerTurn({ partners }: World, id: OrderId): Promise<number[]> {
  const effects = await partners.effects({ reference: businessKey(id), kind: 'completion' });
  const paid: number[] = [];
  for (const { key } of effects) {
    const turn = Number(/\/t(\d+)\/model$/.exec(key ?? '')?.[1]);
    if (!(turn > 0)) throw new Error(`paid for no turn: ${key}`);
    while (paid.length < turn) paid.push(0);
    paid[turn - 1] = (paid[turn - 1] ?? 0) + 1;
  }
  return paid;
}

/** How many calls of each turn the run itself has written down as lost. */
export function lostPerTurn(history: readonly HistoryEntry[]): Map<number, number> {
  const lost = new Map<number, number>();
  for (const entry of history) {
    if (entry.type === 'calls-lost') lost.set(entry.turn, entry.lostCalls);
  }
  return lost;
}
