import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { approve } from './workflows.ts';
import { until } from '../../../support/until.ts';
import { wired } from './wired.ts';

/** The labels of one undisturbed order, in order. */
async function labelsOfOneOrder(t: TestContext): Promise<string[]> {
  const { guest, start, id, proxy } = await wired(t);
  await guest('w');
  const handle = await start('order', id('order'));
  await until('the gate', async () => (await handle.describe()).historyLength >= 15);
  await handle.executeUpdate(approve, { args: ['ann'] });
  await handle.result();
  // The server tells the client that it is over before the worker has its answer.
  await until('all seven boundaries', async () => proxy.boundaries().length >= 7);
  assert.ok(proxy.boundaries().every(({ run, client }) => run === id('order') && client === 'w'));
  return proxy.boundaries().map(({ label }) => label);
}

test('calls are named by workflow task and by activity, its attempt and type', async (t) => {
  const labels = await labelsOfOneOrder(t);
  assert.deepEqual(labels.slice(0, 4), [
    'RespondWorkflowTaskCompleted task 3 attempt 1 #1',
    'RespondActivityTaskCompleted activity 1 act attempt 1 #1',
    'RespondWorkflowTaskCompleted task 9 attempt 1 #1',
    'RespondWorkflowTaskCompleted task 14 attempt 1 #1',
  ]);
  assert.equal(labels[5], 'RespondActivityTaskCompleted activity 2 act attempt 1 #1');
});

test('two undisturbed runs of the same thing have the same boundaries in the same order', async (t) => {
  assert.deepEqual(await labelsOfOneOrder(t), await labelsOfOneOrder(t));
});

test('a failed attempt and the next one are boundaries of their own', async (t) => {
  const { guest, start, id, proxy } = await wired(t);
  await guest('w');
  await (await start('rough', id('rough'), 10)).result();
  const about = proxy.boundaries().filter(({ task }) => task?.kind === 'activity');
  assert.deepEqual(
    about.map(({ label }) => label),
    [
      'RespondActivityTaskCompleted activity 1 large attempt 1 #1',
      'RespondActivityTaskFailed activity 2 failTwice attempt 1 #1',
      'RespondActivityTaskFailed activity 2 failTwice attempt 2 #1',
      'RespondActivityTaskCompleted activity 2 failTwice attempt 3 #1',
    ],
  );
});

test('with parallel activities the same calls come in some order; workflow tasks may be fewer or more', async (t) => {
  const { guest, start, id, proxy } = await wired(t);
  await guest('w');
  const activities = [];
  for (const name of ['one', 'two']) {
    await (await start('parallel', id(name), 8)).result();
    const of = proxy.boundaries().filter(({ run }) => run === id(name));
    activities.push(of.filter(({ task }) => task?.kind === 'activity').map(({ label }) => label));
    assert.equal(of[0]?.label, 'RespondWorkflowTaskCompleted task 3 attempt 1 #1');
  }
  assert.equal(activities[0]?.length, 8);
  assert.deepEqual(activities[0]?.toSorted(), activities[1]?.toSorted());
});

test('a client starting, signalling and ending a run makes boundaries; looking at it makes none', async (t) => {
  const { client, id, proxy } = await wired(t);
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address: proxy.address });
  t.after(() => connection.close());
  const wire = new Client({ connection, identity: 'clerk' });
  const workflowId = id('by hand');
  const options = {
    taskQueue: 'nobody',
    workflowId,
    workflowExecutionTimeout: '1 minute',
  } as const;
  const handle = await wire.workflow.start('order', options);
  await handle.describe();
  await handle.signal('hello');
  await handle.terminate();
  assert.equal((await client.workflow.getHandle(workflowId).describe()).status.name, 'TERMINATED');
  assert.deepEqual(
    proxy.boundaries().map(({ name, client: by }) => ({ name, by })),
    ['StartWorkflowExecution', 'SignalWorkflowExecution', 'TerminateWorkflowExecution'].map(
      (rpc) => ({ name: `${workflowId} | ${rpc} #1`, by: 'clerk' }),
    ),
  );
});
