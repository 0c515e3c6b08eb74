import type { AgentAsk, AgentInput } from './input.ts';

/**
 * The input of a run that begins in `version`. Throws RangeError when whoever asked did not know that
 * version: nobody can say then what a prompt of it costs at most.
 */
export function takeUp({ promptSizes, ...asked }: AgentAsk, version: string): AgentInput {
  const promptSize = promptSizes[version];
  if (promptSize !== undefined) return { ...asked, version, promptSize };
  const known = Object.keys(promptSizes).join(', ');
  throw new RangeError(
    `asked by a client that has no version ${version} of the agent, only ${known}`,
  );
}

/** Of the versions that may be taken, best first, the first one that whoever asked knew as well. */
export function versionFor({ promptSizes }: AgentAsk, candidates: readonly string[]): string {
  const version = candidates.find((each) => promptSizes[each] !== undefined);
  if (version !== undefined) return version;
  throw new RangeError(`asked for in versions ${Object.keys(promptSizes).join(', ')} only`);
}
