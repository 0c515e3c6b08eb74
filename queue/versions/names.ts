import { CURRENT_VERSION } from '../../core/steps.ts';
import type { RunKind } from '../runs/run.ts';

const AGENT = 'agent/';

/** A version of the agent's prompt and tools as it stands beside the orders' versions: `agent/1`. */
export function nameOfAgentVersion(version: string): string {
  return `${AGENT}${version}`;
}

/** The version of prompt and tools that `agent/1` has. */
export function agentVersionOf(name: string): string {
  return name.startsWith(AGENT) ? name.slice(AGENT.length) : name;
}

/** Whose version it is. */
export function kindOfVersion(name: string): RunKind {
  return name.startsWith(AGENT) ? 'agent' : 'order';
}

/** Where new runs begin as long as nobody has said otherwise. */
export const CODES_OWN: Readonly<Record<RunKind, string>> = {
  order: CURRENT_VERSION,
  agent: nameOfAgentVersion('2'),
};
