import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { readBoundary, rpcOf } from '../../../../lab/wire/temporal/calls.ts';
import { messageIn } from '../../../../lab/wire/temporal/grpc.ts';
import { Tasks } from '../../../../lab/wire/temporal/tasks.ts';

const { v1 } = proto.temporal.api.workflowservice;

const frame = (message: Uint8Array, packed: boolean) => {
  const head = Buffer.alloc(5);
  head.writeUInt8(packed ? 1 : 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

test('a message is read from its frame, packed or not', () => {
  const message = Buffer.from('hello');
  assert.ok(messageIn(frame(message, false)).equals(message));
  assert.ok(messageIn(frame(gzipSync(message), true)).equals(message));
  assert.equal(messageIn(Buffer.alloc(0)).length, 0);
});

test('a token names its task from a poll, from an eager answer, and not otherwise', () => {
  const tasks = new Tasks();
  const activity = (taskToken: Uint8Array, activityId: string) => ({
    taskToken,
    activityId,
    attempt: 2,
    workflowExecution: { workflowId: 'order/a/1' },
    activityType: { name: 'charge' },
  });
  const polled = v1.PollActivityTaskQueueResponse.encode(activity(Buffer.from('a'), '5'));
  tasks.learn('PollActivityTaskQueue', polled.finish());
  const eager = v1.RespondWorkflowTaskCompletedResponse.encode({
    activityTasks: [activity(Buffer.from('b'), '6')],
  });
  tasks.learn('RespondWorkflowTaskCompleted', eager.finish());
  const whatOf = (token: string) => {
    const request = { taskToken: Buffer.from(token), identity: 'w' };
    const rpc = 'RespondActivityTaskCompleted';
    const facts = readBoundary(
      rpc,
      v1.RespondActivityTaskCompletedRequest.encode(request).finish(),
    );
    assert.ok(facts);
    return tasks.name(rpc, facts).what;
  };
  assert.equal(whatOf('a'), 'RespondActivityTaskCompleted activity 5 charge attempt 2');
  assert.equal(whatOf('b'), 'RespondActivityTaskCompleted activity 6 charge attempt 2');
  assert.equal(whatOf('c'), 'RespondActivityTaskCompleted unknown task');
});

test('polls, heartbeats, health and descriptions are no boundaries', () => {
  const nothing = new Uint8Array();
  const service = '/temporal.api.workflowservice.v1.WorkflowService';
  for (const rpc of [
    'PollWorkflowTaskQueue',
    'PollActivityTaskQueue',
    'RecordActivityTaskHeartbeat',
    'RecordWorkerHeartbeat',
    'DescribeNamespace',
    'GetSystemInfo',
    'ShutdownWorker',
    'RespondQueryTaskCompleted',
    'GetWorkflowExecutionHistory',
  ])
    assert.equal(readBoundary(rpcOf(`${service}/${rpc}`), nothing), undefined, rpc);
  assert.equal(readBoundary(rpcOf('/grpc.health.v1.Health/Check'), nothing), undefined);
  assert.ok(readBoundary(rpcOf(`${service}/RespondWorkflowTaskCompleted`), nothing));
});
