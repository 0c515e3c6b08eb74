import type { Policy } from '../policy.ts';
import { asData } from './data.ts';
import type { Message } from './messages.ts';
import type { AgentPolicy } from './policy.ts';
import type { ModelPrice } from './prices.ts';
import type { AgentRequest } from './request.ts';
import { sizeOf, sizeOfText } from './size.ts';
import { agentVersion, CURRENT_AGENT_VERSION, toolsOf } from './versions.ts';

/** What a run of the agent starts with, on every implementation. All of it is decided at the edge, and stays. */
export interface AgentInput {
  request: AgentRequest;
  limits: AgentPolicy;
  /** Of the order that comes of it, and of what a step may try. */
  policy: Policy;
  version: string;
  model: string;
  price: ModelPrice;
  /** The size of what is in every prompt: instructions, tools, request. */
  promptSize: number;
}

/** The input of a new run. Throws RangeError for a version that is not there. */
export function toAgentInput(
  chosen: Omit<AgentInput, 'version' | 'promptSize'> & { version?: string },
): AgentInput {
  const { version = CURRENT_AGENT_VERSION, request } = chosen;
  const tools = JSON.stringify(toolsOf(agentVersion(version)));
  const messages = firstMessages(version, request);
  const promptSize = messages.reduce((sum, each) => sum + sizeOf(each), sizeOfText(tools));
  return { ...chosen, version, promptSize };
}

/** How every prompt begins. */
export function firstMessages(version: string, { text, currency }: AgentRequest): Message[] {
  return [
    { role: 'system', content: agentVersion(version).prompt },
    { role: 'user', content: asData('requester', { text, currency }) },
  ];
}
