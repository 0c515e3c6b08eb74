import assert from 'node:assert/strict';
import { test } from 'node:test';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Event } from '../../client/pipelines/temporal/deviation.ts';
import { eventNamedIn } from '../../client/pipelines/temporal/deviation.ts';
import { stallIn } from '../../client/pipelines/temporal/stall.ts';
import { taskOf } from '../../client/pipelines/temporal/tasks.ts';

type Attributes = Record<string, object>;

/** Events as the server has them, numbered from 1; the nth happened in the nth second. */
function history(...attributes: Attributes[]): readonly Event[] {
  const events = attributes.map((each, n) => {
    const eventTime = `2026-12-01T12:00:0${n + 1}Z`;
    return { eventId: String(n + 1), eventTime, ...each };
  });
  return historyFromJSON({ events }).events ?? [];
}

const bundle = (digit: string) => `@temporalio/worker@1.24.0+${digit.repeat(64)}`;
const completed = {
  workflowTaskCompletedEventAttributes: { workerVersion: { buildId: bundle('a') } },
};
const started = {
  workflowTaskStartedEventAttributes: { identity: '7@vm', workerVersion: { buildId: bundle('b') } },
};
const activity = (type: string, activityId: string, workflowTaskCompletedEventId: string) => ({
  activityTaskScheduledEventAttributes: {
    activityType: { name: type },
    activityId,
    workflowTaskCompletedEventId,
  },
});
const failed = (cause: string, message: string, startedEventId = '1') => ({
  workflowTaskFailedEventAttributes: {
    cause: `WORKFLOW_TASK_FAILED_CAUSE_${cause}`,
    failure: { message, stackTrace: 'at pay (/srv/app/workflows/steps.ts:12:3)' },
    identity: '7@vm',
    startedEventId,
  },
});
const scheduled = { workflowTaskScheduledEventAttributes: {} };
const timedOut = {
  workflowTaskTimedOutEventAttributes: { timeoutType: 'TIMEOUT_TYPE_START_TO_CLOSE' },
};

const nonDeterminism = (message: string) =>
  failed('NON_DETERMINISTIC_ERROR', `[TMPRL1100] Nondeterminism error: ${message}`, '4');

test('code that leaves the history is told by both versions, the event and what was asked for instead', () => {
  const events = history(
    completed,
    activity('reserve', '1', '1'),
    scheduled,
    started,
    nonDeterminism(
      "Activity type of scheduled event 'reserve' does not match activity type of activity command 'charge'",
    ),
  );
  assert.deepEqual(stallIn(events, 2), {
    since: '2026-12-01T12:00:05.000Z',
    reason:
      'version bbbbbbbbbbbb (7@vm) can\'t go on: at event 2 the history, by version aaaaaaaaaaaa, schedules activity "reserve"; the code schedules activity "charge"',
    version: 'bbbbbbbbbbbb',
    eventId: 2,
    resetTo: 1,
  });
});

test('an error thrown is told with its place, and no reset is proposed', () => {
  const events = history(started, failed('WORKFLOW_WORKER_UNHANDLED_FAILURE', 'no budget'));
  assert.deepEqual(stallIn(events, 3), {
    since: '2026-12-01T12:00:02.000Z',
    reason:
      "version bbbbbbbbbbbb (7@vm) can't go on: its code throws: no budget (workflows/steps.ts:12)",
    version: 'bbbbbbbbbbbb',
  });
});

test('code that never ends, and commands that the server does not take, are told as what they are', () => {
  const endless = failed(
    'WORKFLOW_WORKER_UNHANDLED_FAILURE',
    'Script execution timed out after 5000ms',
  );
  assert.match(
    stallIn(history(started, endless), 2)?.reason ?? '',
    /computes for too long: Script/,
  );
  for (const cause of ['PAYLOADS_TOO_LARGE', 'BAD_SEARCH_ATTRIBUTES', 'GRPC_MESSAGE_TOO_LARGE']) {
    const stall = stallIn(history(started, failed(cause, 'OrderX is not defined')), 2);
    assert.match(stall?.reason ?? '', /asks for what is not taken: OrderX is not defined$/);
  }
});

test('what fails a task and is no fault of the code stalls nothing', () => {
  for (const cause of [
    'UNHANDLED_COMMAND',
    'RESET_STICKY_TASK_QUEUE',
    'RESET_WORKFLOW',
    'FORCE_CLOSE_COMMAND',
  ]) {
    assert.equal(stallIn(history(started, failed(cause, 'as ever')), 2), undefined);
  }
});

test('a failure is over when a task was completed after it, or the run was reset', () => {
  const failure = failed('WORKFLOW_WORKER_UNHANDLED_FAILURE', 'no budget');
  assert.equal(stallIn(history(started, failure, completed), 2), undefined);
  assert.equal(stallIn(history(started, failure, failed('RESET_WORKFLOW', 'reset')), 2), undefined);
});

test('it stands still since the first failure, and says the last one', () => {
  const one = failed('WORKFLOW_WORKER_UNHANDLED_FAILURE', 'no budget');
  const other = failed('WORKFLOW_WORKER_UNHANDLED_FAILURE', 'no money');
  const stall = stallIn(history(started, one, scheduled, other), 1);
  assert.equal(stall?.since, '2026-12-01T12:00:02.000Z');
  assert.match(stall.reason, /no money/);
});

test('workers that never answer stall a run from the third in a row on: one or two may have been killed', () => {
  const events = history(completed, started, timedOut);
  assert.equal(stallIn(events, 2), undefined);
  assert.equal(stallIn(events, 3), undefined);
  assert.deepEqual(stallIn(events, 4), {
    since: '2026-12-01T12:00:03.000Z',
    reason: '3 workers in a row have taken its next task and not answered',
  });
});

test('a task that timed out first and fails since says so: the server keeps the first failure only', () => {
  const problems = [
    'category=WorkflowTaskFailed',
    'cause=WorkflowTaskFailedCauseNonDeterministicError',
  ];
  const stall = stallIn(history(completed, started, timedOut), 2, problems);
  assert.match(stall?.reason ?? '', /has failed since \(WorkflowTaskFailedCauseNonDeterministic/);
});

test('an event is found by its number, or by the first activity or child that the message names', () => {
  const events = history(completed, activity('price', '1', '1'), activity('price', '2', '1'), {
    startChildWorkflowExecutionInitiatedEventAttributes: { workflowId: 'order/a/1/lines/0' },
  });
  const found = (message: string) => Number(eventNamedIn(message, events)?.eventId);
  assert.equal(
    found('x does not handle this event: HistoryEvent(id: 3, ActivityTaskScheduled)'),
    3,
  );
  assert.equal(
    found("Activity type of scheduled event 'price' does not match activity type of …"),
    2,
  );
  assert.equal(found("Activity id of scheduled event '2' does not match activity id of …"), 3);
  assert.equal(
    found("Child workflow id of scheduled event 'order/a/1/lines/0' does not match …"),
    4,
  );
  assert.equal(eventNamedIn('something else', events), undefined);
});

test('an event is dropped with the task that asked for it, one from outside with the last task before it', () => {
  const signal = { workflowExecutionSignaledEventAttributes: { signalName: 'cancel' } };
  const events = history(
    scheduled,
    completed,
    activity('price', '1', '2'),
    signal,
    completed,
    signal,
  );
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((eventId) => taskOf(events, eventId)),
    [undefined, 2, 2, 2, 5, 5],
  );
});
