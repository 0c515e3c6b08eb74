import type { AgentPosition } from '../../../core/agent/contract.ts';
import { businessKey } from '../../../core/identity.ts';
import type { Answer } from '../../answer.ts';
import { cannot, notFound } from '../../endings.ts';
import { EXIT } from '../../exit-codes.ts';
import { resolveRequest } from '../../references.ts';
import { requestsOf } from '../../runs.ts';
import type { Session } from '../../session.ts';
import { agentLines, nextAgentCommands } from '../../view/agent-position.ts';
import { historyLines } from '../../view/history.ts';
import { follow } from './follow.ts';

export interface WhereOptions {
  history?: true;
  follow?: true;
  buyer?: string;
}

/** Where a request is right now; with `follow` it is watched until it rests. */
export async function where(
  session: Session,
  reference: string,
  options: WhereOptions,
): Promise<Answer> {
  const agents = await session.agents();
  const id = await resolveRequest(agents, reference, options.buyer);
  const result = options.follow ? await follow(session, agents, id) : await agents.where(id);
  if (result.kind === 'not-found') throw notFound(requestsOf(agents), reference);
  if (result.kind === 'cannot') throw cannot(agents, result);
  return positionAnswer(result.position, options);
}

export function positionAnswer(
  whole: AgentPosition,
  { history: withHistory }: Pick<WhereOptions, 'history'>,
): Answer {
  // Not the session's: following may have taken minutes since it began.
  const now = new Date();
  const { history, historyCut, ...position } = whole;
  const out = agentLines(whole, now);
  if (withHistory) out.push('', ...historyLines(history, historyCut));
  return {
    exitCode: EXIT.done,
    json: {
      request: businessKey(whole.id),
      result: { kind: 'position', position: withHistory ? whole : position },
    },
    out,
    err: nextAgentCommands(whole),
  };
}
