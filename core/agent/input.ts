import type { Policy } from '../policy.ts';
import { asData } from './data.ts';
import type { Message } from './messages.ts';
import type { AgentPolicy } from './policy.ts';
import type { ModelPrice } from './prices.ts';
import type { AgentRequest } from './request.ts';
import { sizeOf, sizeOfText } from './size.ts';
import { AGENT_VERSIONS, agentVersion, toolsOf } from './versions.ts';

/**
 * What a run is asked with, on every implementation. All of it is decided at the edge, and stays. Which
 * version of prompt and tools it takes is for those to say who take it up: see `takeUp`.
 */
export interface AgentAsk {
  request: AgentRequest;
  limits: AgentPolicy;
  /** Of the order that comes of it, and of what a step may try. */
  policy: Policy;
  model: string;
  price: ModelPrice;
  /** The size of what is in every prompt (instructions, tools, request), by version. */
  promptSizes: Readonly<Record<string, number>>;
}

/** What a run goes by: as it was asked, in the version that it keeps to its end. */
export interface AgentInput extends Omit<AgentAsk, 'promptSizes'> {
  version: string;
  promptSize: number;
}

/** What a new run is asked with; its sizes are those of every version there is here. */
export function toAgentAsk(chosen: Omit<AgentAsk, 'promptSizes'>): AgentAsk {
  const { request } = chosen;
  const promptSizes = Object.fromEntries(
    AGENT_VERSIONS.map((version) => [version, promptSizeOf(version, request)] as const),
  );
  return { ...chosen, promptSizes };
}

function promptSizeOf(version: string, request: AgentRequest): number {
  const tools = JSON.stringify(toolsOf(agentVersion(version)));
  const messages = firstMessages(version, request);
  return messages.reduce((sum, each) => sum + sizeOf(each), sizeOfText(tools));
}

/** How every prompt begins. Throws RangeError for a version that is not there. */
export function firstMessages(version: string, { text, currency }: AgentRequest): Message[] {
  return [
    { role: 'system', content: agentVersion(version).prompt },
    { role: 'user', content: asData('requester', { text, currency }) },
  ];
}
