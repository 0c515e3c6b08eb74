import { setTimeout as sleep } from 'node:timers/promises';
import type { Position } from '../../core/contract.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import type { EffectKind } from '../../partners/contract.ts';
import type { World } from '../world/world.ts';
import { whereInWords } from './words.ts';

/** Long enough for a machine that does something else as well; a scenario's own limit comes first. */
export const LIMIT_MS = 60_000;
const POLL_MS = 50;

/** Asks until there is an answer; throws with what was wanted after `limitMs`. */
export async function until<T>(
  wanted: string,
  ask: () => Promise<T | undefined>,
  limitMs = LIMIT_MS,
): Promise<T> {
  for (const deadline = Date.now() + limitMs; ;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${wanted}`);
    await sleep(POLL_MS);
  }
}

/** The first position of the run that is as `matches` says. Throws on an implementation that can't say. */
export async function untilPosition(
  world: World,
  id: OrderId,
  matches: (position: Position) => boolean,
  limitMs = LIMIT_MS,
): Promise<Position> {
  try {
    return await until(
      `${world.implementation}: ${id.orderRef} where it should be`,
      async () => {
        const answer = await world.pipeline.where(id);
        if (answer.kind === 'cannot') throw new Error(`where can't be asked: ${answer.reason}`);
        return answer.kind === 'position' && matches(answer.position) ? answer.position : undefined;
      },
      limitMs,
    );
  } catch (error) {
    const last = await whereInWords(world, id);
    throw new Error(`${String(error)}; it is ${last}`, { cause: error });
  }
}

/** The counts of one order's effects once they are as `matches` says; after `limitMs` whatever they are. */
export async function countsOnce(
  world: World,
  id: OrderId,
  matches: (counts: Record<EffectKind, number>) => boolean,
  limitMs = LIMIT_MS,
): Promise<Record<EffectKind, number>> {
  for (const deadline = Date.now() + limitMs; ;) {
    const counts = await world.partners.counts(businessKey(id));
    if (matches(counts) || Date.now() > deadline) return counts;
    await sleep(POLL_MS);
  }
}

/**
 * Waits until the order is through: its run has ended, or, on the chain, which can't be asked, its
 * mail is out. Throws after `limitMs`.
 */
export async function untilThrough(world: World, id: OrderId, limitMs = LIMIT_MS): Promise<void> {
  if (world.implementation !== 'chain') {
    await untilPosition(world, id, ({ status }) => status === 'ended', limitMs);
    return;
  }
  const { mail } = await countsOnce(world, id, (counts) => counts.mail > 0, limitMs);
  if (mail === 0) throw new Error(`chain: no mail of ${id.orderRef} within ${limitMs} ms`);
}
