import type { AgentFilter } from '../../../core/agent/contract.ts';
import type { Answer } from '../../answer.ts';
import type { Session } from '../../session.ts';
import { listed } from '../list.ts';

/** The newest requests, filtered. */
export async function list(session: Session, filter: AgentFilter): Promise<Answer> {
  const agents = await session.agents();
  return listed(agents, 'REQUEST', (limit) => agents.list({ ...filter, limit }), filter.limit);
}
