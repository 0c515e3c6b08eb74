import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { ListResult, RunFilter, RunSummary } from '../../../core/contract.ts';
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
import { describeRun } from './description.ts';
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
  return { kind: 'runs', runs };
}

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

function summaryOf(run: WorkflowExecutionInfo): RunSummary {
  const attributes = run.typedSearchAttributes;
  const outcome = oneOf(OUTCOMES, attributes.get(orderOutcomeKey));
  const running = run.status.name === 'RUNNING';
  const stalled = running && hasReportedProblems(run);
  const said = oneOf(STATUSES, attributes.get(orderStatusKey)) ?? 'running';
  const status = stalled ? 'stuck' : said;
  const waitingFor = stalled ? 'other code' : attributes.get(orderWaitsForKey);
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
  };
}

function oneOf<T extends string>(words: readonly T[], value: string | undefined): T | undefined {
  return words.find((word) => word === value);
}

async function isRetrying(client: Client, id: OrderId): Promise<boolean> {
  const run = await describeRun(client, id);
  return run !== undefined && positionOf(run).status === 'retrying';
}
