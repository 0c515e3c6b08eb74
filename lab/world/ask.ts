import { requestIdOf } from '../../core/agent/identity.ts';
import type { AgentPolicy } from '../../core/agent/policy.ts';
import type { OrderId } from '../../core/identity.ts';
import type { World } from './world.ts';

/** Asks the world's agent and returns what the request is called. Throws when it is not taken. */
export async function ask(
  world: World,
  requestRef: string,
  text: string,
  limits: Partial<AgentPolicy> = {},
): Promise<OrderId> {
  const { pipeline, request } = await world.agents();
  const asked = request(requestRef, text, limits);
  const { kind } = await pipeline.ask(asked);
  if (kind !== 'started') throw new Error(`the agent of ${requestRef}: ${kind}`);
  return requestIdOf(asked.request);
}
