import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { ListResult, RunFilter, RunSummary } from '../../../core/contract.ts';
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { OUTCOMES, STATUSES, STEPS } from '../../../core/steps.ts';
import {
  ORDER_WORKFLOW,
  fromSearchable,
  orderBuyerKey,
  orderOutcomeKey,
  orderRefKey,
  orderStatusKey,
  orderStepKey,
  orderWaitsForKey,
  searchable,
} from '../../../workflows/search-attributes.ts';
import { describeRun, describeWorkflow, isRunning } from './description.ts';
import { HAS_REPORTED_PROBLEMS, hasReportedProblems } from './stall.ts';
import { positionOf } from './where.ts';

const DEFAULT_LIMIT = 100;

/** Runs that match, newest first. Lists lag behind by some 20 ms; `where` does not. */
export async function list(client: Client, filter: RunFilter): Promise<ListResult> {
  const { limit = DEFAULT_LIMIT, status } = filter;
  const runs: RunSummary[] = [];
  for await (const run of client.workflow.list({ query: queryOf(filter), pageSize: 200 })) {
    if (runs.length >= limit) break;
    const summary = summaryOf(run);
    // A stalled one says in its attributes what it was before.
    if (summary.status === 'stuck' && status !== undefined && status !== 'stuck') continue;
    if (status !== 'retrying') runs.push(summary);
    // The index does not know about attempts: only the server's own record of the run does.
    else if (await isRetrying(client, summary.id)) runs.push({ ...summary, status });
  }
  if (status === 'stuck') await addParentsOfStalled(client, filter, runs);
  return { kind: 'runs', runs: runs.slice(0, limit) };
}

/** Of a stalled child the index knows, but not of the order that waits for it. */
async function addParentsOfStalled(
  client: Client,
  { step, orderRef, buyerId }: RunFilter,
  runs: RunSummary[],
): Promise<void> {
  const listed = new Set(runs.map(({ id }) => runIdOf(id)));
  const query = `WorkflowType = 'priceLines' AND ExecutionStatus = 'Running' AND ${HAS_REPORTED_PROBLEMS}`;
  for await (const { parentExecution } of client.workflow.list({ query })) {
    const parent = parentExecution?.workflowId;
    if (!parent || listed.has(parent)) continue;
    listed.add(parent);
    const run = await describeWorkflow(client, parent);
    if (!run || !isRunning(run)) continue;
    const summary = summaryOf(run);
    const { id } = summary;
    if (buyerId !== undefined && buyerId !== id.buyerId) continue;
    if (orderRef !== undefined && orderRef !== id.orderRef) continue;
    if (step !== undefined && step !== summary.step) continue;
    runs.push({ ...summary, ...STALLED });
  }
  runs.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
}

/** As lists have it; `where` says more. */
const STALLED = { status: 'stuck', waitingFor: 'other code' } as const;

function queryOf({ status, step, orderRef, buyerId }: RunFilter): string {
  const conditions = [`WorkflowType = ${quoted(ORDER_WORKFLOW)}`];
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
  if (orderRef !== undefined)
    conditions.push(`${orderRefKey.name} = ${quoted(searchable(orderRef))}`);
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
  'typedSearchAttributes' | 'status' | 'startTime' | 'closeTime'
>;

function summaryOf(run: Listed): RunSummary {
  const attributes = run.typedSearchAttributes;
  const outcome = oneOf(OUTCOMES, attributes.get(orderOutcomeKey));
  const running = run.status.name === 'RUNNING';
  const status = oneOf(STATUSES, attributes.get(orderStatusKey)) ?? 'running';
  const waitingFor = attributes.get(orderWaitsForKey);
  return {
    id: {
      buyerId: fromSearchable(attributes.get(orderBuyerKey) ?? ''),
      orderRef: fromSearchable(attributes.get(orderRefKey) ?? ''),
    },
    step: oneOf(STEPS, attributes.get(orderStepKey)) ?? 'validate',
    status: running ? status : 'ended',
    ...(outcome === undefined ? {} : { outcome }),
    ...(waitingFor === undefined ? {} : { waitingFor }),
    startedAt: run.startTime.toISOString(),
    ...(run.closeTime === undefined ? {} : { endedAt: run.closeTime.toISOString() }),
    ...(running && hasReportedProblems(run) ? STALLED : {}),
  };
}

function oneOf<T extends string>(words: readonly T[], value: string | undefined): T | undefined {
  return words.find((word) => word === value);
}

async function isRetrying(client: Client, id: OrderId): Promise<boolean> {
  const run = await describeRun(client, id);
  return run !== undefined && positionOf(run).status === 'retrying';
}
