import type {
  Client,
  WorkflowExecutionDescription,
  WorkflowExecutionInfo,
} from '@temporalio/client';
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import type { Stalled } from '../../../core/contract.ts';
import { describeWorkflow, historyOf, isRunning, isoOf } from './description.ts';
import { deviationInWords, eventInWords, eventNamedIn } from './deviation.ts';
import type { Event } from './deviation.ts';
import { sameId, taskOf } from './tasks.ts';

/** Written by the server when a run's workflow tasks fail one after the other, taken away when one succeeds. */
const reportedProblems = defineSearchAttributeKey(
  'TemporalReportedProblems',
  SearchAttributeType.KEYWORD_LIST,
);

/** The condition of a list's query for runs that have any. */
export const HAS_REPORTED_PROBLEMS =
  "TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')";

type Indexed = Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>;

export function hasReportedProblems(run: Indexed): boolean {
  return problemsOf(run).length > 0;
}

function problemsOf({ typedSearchAttributes }: Indexed): readonly string[] {
  return typedSearchAttributes.get(reportedProblems) ?? [];
}

/** Of the server's API: what fails a task and says nothing about the code. A race, a reset, a moved shard. */
const HARMLESS_CAUSES = [1, 13, 17, 18, 20, 31];
const RESET_WORKFLOW = 20;
const NON_DETERMINISTIC_ERROR = 24;
const WORKFLOW_WORKER_UNHANDLED_FAILURE = 14;

/**
 * How many workers in a row may take a run's task and never answer before the run counts as stalled: one
 * or two may have been killed.
 */
const UNANSWERED = 3;

/**
 * Why no worker can go on with the run, if none can: from the task that failed, which is in the history
 * at once and retried for ever. The server keeps the first failure only, so code that was deployed since
 * and fails in another way shows as the first one did. Undefined when nothing is wrong.
 */
export async function stallOf(
  client: Client,
  run: WorkflowExecutionDescription,
  history = historyOf(client, run),
): Promise<Stalled | undefined> {
  if (!isRunning(run)) return undefined;
  return (await ownStallOf(run, history)) ?? (await childsStallOf(client, run));
}

async function ownStallOf(
  run: WorkflowExecutionDescription,
  history: () => Promise<readonly Event[]>,
): Promise<Stalled | undefined> {
  const task = run.raw.pendingWorkflowTask;
  if (!task) return undefined;
  const attempt = task.attempt ?? 1;
  if (attempt <= 1 && !hasReportedProblems(run)) return undefined;
  return stallIn(await history(), attempt, problemsOf(run));
}

/** A large order leaves its prices to children, and stands as still as they do. */
async function childsStallOf(
  client: Client,
  { raw }: WorkflowExecutionDescription,
): Promise<Stalled | undefined> {
  for (const { workflowId } of raw.pendingChildren ?? []) {
    const child = workflowId ? await describeWorkflow(client, workflowId) : undefined;
    const stalled = child && (await stallOf(client, child));
    if (!stalled) continue;
    const { since, reason, version } = stalled;
    return { since, reason: `its child ${workflowId}: ${reason}`, ...(version && { version }) };
  }
  return undefined;
}

/** The same, of a history whose next task is at its `attempt`th, and of which the index says `problems`. */
export function stallIn(
  events: readonly Event[],
  attempt: number,
  problems: readonly string[] = [],
): Stalled | undefined {
  const since = events.slice(1 + events.findLastIndex(endsATask));
  const failed = since.filter(({ workflowTaskFailedEventAttributes: failure }) => {
    return failure && !HARMLESS_CAUSES.includes(Number(failure.cause));
  });
  const [first] = failed;
  const last = failed.at(-1);
  if (first && last) return { ...failureInWords(last, events), since: timeOf(first) };
  const unanswered = since.find((event) => event.workflowTaskTimedOutEventAttributes);
  if (!unanswered) return undefined;
  if (problems.includes('category=WorkflowTaskFailed')) {
    const cause = problems.find((problem) => problem.startsWith('cause='))?.slice('cause='.length);
    const reason = `its next task was not answered in time at first, and has failed since (${cause ?? 'no cause given'}); the server keeps no more of a second failure, the worker's log does`;
    return { since: timeOf(unanswered), reason };
  }
  if (attempt <= UNANSWERED) return undefined;
  const reason = `${attempt - 1} workers in a row have taken its next task and not answered`;
  return { since: timeOf(unanswered), reason };
}

/** What was wrong before it is over. */
function endsATask(event: Event): boolean {
  if (event.workflowTaskCompletedEventAttributes) return true;
  return Number(event.workflowTaskFailedEventAttributes?.cause) === RESET_WORKFLOW;
}

function failureInWords(failed: Event, events: readonly Event[]): Omit<Stalled, 'since'> {
  const { cause, failure, identity, startedEventId } =
    failed.workflowTaskFailedEventAttributes ?? {};
  const message = failure?.message ?? 'no reason given';
  const version = takenBy(events.find(({ eventId }) => sameId(eventId, startedEventId)));
  const who = `version ${version ?? 'unknown'} (${identity ?? 'an unknown worker'})`;
  const known = version === undefined ? {} : { version };
  const kind = Number(cause);
  if (kind === WORKFLOW_WORKER_UNHANDLED_FAILURE) {
    const code = deviationInWords(message, failure?.stackTrace ?? '');
    return { ...known, reason: `${who} can't go on: its code ${code}` };
  }
  if (kind !== NON_DETERMINISTIC_ERROR) {
    return { ...known, reason: `${who} can't go on: it asks for what is not taken: ${message}` };
  }
  const event = eventNamedIn(message, events);
  const code = deviationInWords(message);
  if (!event) return { ...known, reason: `${who} can't go on: its code ${code}` };
  const eventId = Number(event.eventId);
  const resetTo = taskOf(events, eventId);
  const writer = completedBy(events.find((each) => sameId(each.eventId, resetTo)));
  const history = writer === undefined ? 'the history' : `the history, by version ${writer},`;
  return {
    ...known,
    reason: `${who} can't go on: at event ${eventId} ${history} ${eventInWords(event)}; the code ${code}`,
    eventId,
    ...(resetTo === undefined ? {} : { resetTo }),
  };
}

function takenBy(started: Event | undefined): string | undefined {
  return shortened(started?.workflowTaskStartedEventAttributes?.workerVersion?.buildId);
}

function completedBy(completed: Event | undefined): string | undefined {
  const { deploymentVersion, workerVersion } =
    completed?.workflowTaskCompletedEventAttributes ?? {};
  return shortened(deploymentVersion?.buildId ?? workerVersion?.buildId);
}

/**
 * A worker that was given no build id has the SDK's, which ends with the digest of its bundle: of that the
 * beginning, which is enough to tell two bundles apart.
 */
function shortened(buildId: string | null | undefined): string | undefined {
  if (!buildId) return undefined;
  return /^@temporalio\/worker@[^+]*\+([0-9a-f]{12})/.exec(buildId)?.[1] ?? buildId;
}

function timeOf({ eventTime }: Event): string {
  return isoOf(eventTime) ?? new Date(0).toISOString();
}
