import type { ListResult, Pipeline, RunFilter, RunSummary } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { AgentOutcome, AnyStep } from '../../core/steps.ts';
import type { Answer } from '../answer.ts';
import { cannot } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { tableLines } from '../view/table.ts';
import { localTime } from '../view/time.ts';

export const DEFAULT_LIMIT = 100;

/** The newest runs, filtered. */
export async function list(session: Session, filter: RunFilter): Promise<Answer> {
  const pipeline = await session.pipeline();
  return listed(pipeline, 'ORDER', (limit) => pipeline.list({ ...filter, limit }), filter.limit);
}

/** The newest runs of either kind as a table. `what` heads the column with their names. */
export async function listed(
  pipeline: Pick<Pipeline, 'implementation'>,
  what: string,
  read: (limit: number) => Promise<ListResult<RunSummary<AnyStep, AgentOutcome>>>,
  limit = DEFAULT_LIMIT,
): Promise<Answer> {
  const result = await read(limit);
  if (result.kind === 'cannot') throw cannot(pipeline, result);
  const { runs } = result;
  const head = [what, 'STATUS', 'STEP', 'WAITS FOR', 'STARTED', 'ENDED'];
  return {
    exitCode: EXIT.done,
    json: { result },
    out: runs.length === 0 ? [] : tableLines(head, runs.map(cells)),
    err: notes(runs.length, limit),
  };
}

function cells(run: RunSummary<AnyStep, AgentOutcome>): string[] {
  return [
    businessKey(run.id),
    run.outcome ?? run.status,
    run.step,
    run.waitingFor ?? '',
    localTime(run.startedAt),
    run.endedAt === undefined ? '' : localTime(run.endedAt),
  ];
}

function notes(shown: number, limit: number): string[] {
  if (shown === 0) return ['No run matches.'];
  return shown === limit ? [`The newest ${limit}; there may be more (--limit).`] : [];
}
