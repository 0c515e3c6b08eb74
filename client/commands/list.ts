import type { RunFilter, RunSummary } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
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
  const limit = filter.limit ?? DEFAULT_LIMIT;
  const result = await pipeline.list({ ...filter, limit });
  if (result.kind === 'cannot') throw cannot(pipeline, result);
  const { runs } = result;
  return {
    exitCode: EXIT.done,
    json: { result },
    out: runs.length === 0 ? [] : tableLines(HEAD, runs.map(cells)),
    err: notes(runs.length, limit),
  };
}

const HEAD = ['ORDER', 'STATUS', 'STEP', 'WAITS FOR', 'STARTED', 'ENDED'];

function cells(run: RunSummary): string[] {
  return [
    businessKey(run.id),
    run.outcome ?? run.status,
    run.step,
    run.waitingFor ?? '',
    localTime(run.startedAt),
    run.endedAt === undefined ? '' : localTime(run.endedAt),
  ];
}

export function notes(shown: number, limit: number): string[] {
  if (shown === 0) return ['No run matches.'];
  return shown === limit ? [`The newest ${limit}; there may be more (--limit).`] : [];
}
