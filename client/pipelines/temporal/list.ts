import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { RunPosition, RunSummary } from '../../../core/contract.ts';
import { STATUSES } from '../../../core/steps.ts';
import type { AgentOutcome, AnyStep, Status } from '../../../core/steps.ts';
import {
  MEMO_POSITION,
  fromSearchable,
  orderBuyerKey,
  orderOutcomeKey,
  orderRefKey,
  orderStatusKey,
  orderStepKey,
  orderWaitsForKey,
  searchable,
} from '../../../workflows/search-attributes.ts';
import { describeWorkflow, isRunning } from './description.ts';
import type { Kind } from './kinds.ts';
import { HAS_REPORTED_PROBLEMS, hasReportedProblems } from './stall.ts';
import { positionOf } from './where.ts';

const DEFAULT_LIMIT = 100;

export interface KindFilter<S extends AnyStep> {
  status?: Status | undefined;
  step?: S | undefined;
  /** The buyer's reference. */
  ref?: string | undefined;
  buyerId?: string | undefined;
  limit?: number | undefined;
}

/** Runs of a kind that match, newest first. Lists lag behind by some 20 ms; `where` does not. */
export async function list<S extends AnyStep, O extends AgentOutcome>(
  client: Client,
  kind: Kind<S, O>,
  filter: KindFilter<S>,
): Promise<{ kind: 'runs'; runs: RunSummary<S, O>[] }> {
  const { limit = DEFAULT_LIMIT, status } = filter;
  const runs: RunSummary<S, O>[] = [];
  const query = queryOf(kind, filter);
  for await (const run of client.workflow.list({ query, pageSize: 200 })) {
    if (runs.length >= limit) break;
    const summary = summaryOf(kind, run);
    // A stalled one says in its attributes what it was before.
    if (summary.status === 'stuck' && status !== undefined && status !== 'stuck') continue;
    if (status !== 'retrying') runs.push(summary);
    // The index does not know about attempts: only the server's own record of the run does.
    else if (await isRetrying(client, kind.workflowIdOf(summary.id)))
      runs.push({ ...summary, status });
  }
  if (status === 'stuck') await addParentsOfStalled(client, kind, filter, runs);
  return { kind: 'runs', runs: runs.slice(0, limit) };
}

/** Of a stalled child the index knows, but not of the run that waits for it. */
async function addParentsOfStalled<S extends AnyStep, O extends AgentOutcome>(
  client: Client,
  kind: Kind<S, O>,
  { step, ref, buyerId }: KindFilter<S>,
  runs: RunSummary<S, O>[],
): Promise<void> {
  const listed = new Set(runs.map(({ id }) => kind.workflowIdOf(id)));
  const query = `WorkflowType = ${quoted(kind.childType)} AND ExecutionStatus = 'Running' AND ${HAS_REPORTED_PROBLEMS}`;
  for await (const { parentExecution } of client.workflow.list({ query })) {
    const parent = parentExecution?.workflowId;
    if (!parent || listed.has(parent)) continue;
    listed.add(parent);
    const run = await describeWorkflow(client, parent);
    if (!run || !isRunning(run) || run.type !== kind.workflowType) continue;
    const summary = summaryOf(kind, run);
    const { id } = summary;
    if (buyerId !== undefined && buyerId !== id.buyerId) continue;
    if (ref !== undefined && ref !== id.orderRef) continue;
    if (step !== undefined && step !== summary.step) continue;
    runs.push({ ...summary, ...STALLED });
  }
  runs.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
}

/** As lists have it; `where` says more. */
const STALLED = { status: 'stuck', waitingFor: 'other code' } as const;

function queryOf<S extends AnyStep>(
  { workflowType }: Kind<S, AgentOutcome>,
  { status, step, ref, buyerId }: KindFilter<S>,
): string {
  // Of a run that went on in a new execution, only that one.
  const conditions = [
    `WorkflowType = ${quoted(workflowType)}`,
    "ExecutionStatus != 'ContinuedAsNew'",
  ];
  // A run that was ended from outside still says `running` in its attributes.
  if (status !== undefined) {
    conditions.push(`ExecutionStatus ${status === 'ended' ? '!=' : '='} 'Running'`);
  }
  if (status !== undefined && status !== 'ended') {
    const indexed = status === 'retrying' ? 'running' : status;
    const said = `${orderStatusKey.name} = ${quoted(indexed)}`;
    conditions.push(status === 'stuck' ? `(${said} OR ${HAS_REPORTED_PROBLEMS})` : said);
  }
  if (step !== undefined) conditions.push(`${orderStepKey.name} = ${quoted(step)}`);
  if (ref !== undefined) conditions.push(`${orderRefKey.name} = ${quoted(searchable(ref))}`);
  if (buyerId !== undefined)
    conditions.push(`${orderBuyerKey.name} = ${quoted(searchable(buyerId))}`);
  return conditions.join(' AND ');
}

/** Our own words and `searchable` texts have no quotes, so what a buyer wrote can't become a part of the query. */
function quoted(value: string): string {
  if (/['"\\]/.test(value)) throw new RangeError(`can't be asked for in a list: ${value}`);
  return `'${value}'`;
}

type Listed = Pick<
  WorkflowExecutionInfo,
  'typedSearchAttributes' | 'status' | 'startTime' | 'closeTime' | 'memo'
>;

function summaryOf<S extends AnyStep, O extends AgentOutcome>(
  { steps, outcomes }: Kind<S, O>,
  run: Listed,
): RunSummary<S, O> {
  const attributes = run.typedSearchAttributes;
  const outcome = oneOf(outcomes, attributes.get(orderOutcomeKey));
  const running = run.status.name === 'RUNNING';
  const status = oneOf(STATUSES, attributes.get(orderStatusKey)) ?? 'running';
  const waitingFor = attributes.get(orderWaitsForKey);
  return {
    id: {
      buyerId: fromSearchable(attributes.get(orderBuyerKey) ?? ''),
      orderRef: fromSearchable(attributes.get(orderRefKey) ?? ''),
    },
    step: oneOf(steps, attributes.get(orderStepKey)) ?? steps[0],
    status: running ? status : 'ended',
    ...(outcome === undefined ? {} : { outcome }),
    ...(waitingFor === undefined ? {} : { waitingFor }),
    startedAt: startedAt(run),
    ...(run.closeTime === undefined ? {} : { endedAt: run.closeTime.toISOString() }),
    ...(running && hasReportedProblems(run) ? STALLED : {}),
  };
}

/** Of the whole chain, where a run went on in new executions. */
function startedAt({ memo, startTime }: Listed): string {
  const position = memo?.[MEMO_POSITION] as Partial<RunPosition> | undefined;
  return position?.startedAt ?? startTime.toISOString();
}

function oneOf<T extends string>(words: readonly T[], value: string | undefined): T | undefined {
  return words.find((word) => word === value);
}

async function isRetrying(client: Client, workflowId: string): Promise<boolean> {
  const run = await describeWorkflow(client, workflowId);
  return run !== undefined && positionOf(run).status === 'retrying';
}
