import type { AgentFilter, AgentSummary } from '../../../core/agent/contract.ts';
import { businessKey } from '../../../core/identity.ts';
import type { Answer } from '../../answer.ts';
import { cannot } from '../../endings.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Session } from '../../session.ts';
import { tableLines } from '../../view/table.ts';
import { localTime } from '../../view/time.ts';
import { DEFAULT_LIMIT, notes } from '../list.ts';

/** The newest requests, filtered. */
export async function list(session: Session, filter: AgentFilter): Promise<Answer> {
  const agents = await session.agents();
  const limit = filter.limit ?? DEFAULT_LIMIT;
  const result = await agents.list({ ...filter, limit });
  if (result.kind === 'cannot') throw cannot(agents, result);
  const { runs } = result;
  return {
    exitCode: EXIT.done,
    json: { result },
    out: runs.length === 0 ? [] : tableLines(HEAD, runs.map(cells)),
    err: notes(runs.length, limit),
  };
}

const HEAD = ['REQUEST', 'STATUS', 'STEP', 'WAITS FOR', 'STARTED', 'ENDED'];

function cells(run: AgentSummary): string[] {
  return [
    businessKey(run.id),
    run.outcome ?? run.status,
    run.step,
    run.waitingFor ?? '',
    localTime(run.startedAt),
    run.endedAt === undefined ? '' : localTime(run.endedAt),
  ];
}
