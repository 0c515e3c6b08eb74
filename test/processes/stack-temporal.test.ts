import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { registerSearchAttributes } from '../../stack/search-attributes.ts';
import { startTemporalServer, type TemporalServer } from '../../stack/temporal.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { tempDir } from '../unit/stack/temp-dir.ts';
import { until } from '../support/until.ts';

const INT = 3;

const cleanups: (() => Promise<void> | void)[] = [];
let server: TemporalServer;
let connection: Connection;

before(async () => {
  const dataDir = await tempDir({
    after: (cleanup) => void cleanups.push(cleanup as () => Promise<void>),
  });
  server = await startTemporalServer({ dataDir, persistent: true });
  connection = await Connection.connect({ address: server.address });
});

after(async () => {
  await connection.close();
  await server.process.kill();
  for (const cleanup of cleanups) await cleanup();
});

/** A namespace of a test's own, since attributes belong to one. */
async function newNamespace(name: string): Promise<void> {
  const day = { seconds: 86_400 as unknown as Long }; // the generated type wants a Long, the encoder takes a number
  await connection.workflowService.registerNamespace({
    namespace: name,
    workflowExecutionRetentionPeriod: day,
  });
  await until('the namespace can be used', async () => {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace: name });
      return true;
    } catch {
      return false;
    }
  });
}

test('search attributes are registered and can be used at once, also when they are there already', async () => {
  await newNamespace('fresh');
  // Two starts of the project at the same time are nothing unusual.
  await Promise.all([1, 2].map(() => registerSearchAttributes(connection, 'fresh')));
  await registerSearchAttributes(connection, 'fresh');
  const { customAttributes } = await connection.operatorService.listSearchAttributes({
    namespace: 'fresh',
  });
  for (const { name } of searchAttributes)
    assert(customAttributes && name in customAttributes, name);
  const client = new Client({ connection, namespace: 'fresh' });
  const { count } = await client.workflow.count("OrderRef = 'x' AND OrderWaitsUntil IS NULL");
  assert.equal(count, 0);
});

test('one that is there with another type is an error that names it, both types and the way out', async () => {
  await newNamespace('taken');
  await connection.operatorService.addSearchAttributes({
    namespace: 'taken',
    searchAttributes: { OrderStep: INT },
  });
  await assert.rejects(registerSearchAttributes(connection, 'taken'), (error: Error) => {
    assert.match(
      error.message,
      /Search attribute OrderStep is INT in namespace taken, and this project needs KEYWORD/,
    );
    assert.match(error.message, /temporal operator search-attribute remove --name NAME/);
    return true;
  });
  // And nothing was added on the way to that error.
  const { customAttributes } = await connection.operatorService.listSearchAttributes({
    namespace: 'taken',
  });
  assert.equal(customAttributes && 'OrderRef' in customAttributes, false);
});

test('a run is still there after SIGKILL of the server and a restart on the same ports', async () => {
  const client = new Client({ connection });
  await client.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody', args: [] });
  const { address, uiUrl } = server;
  await server.process.kill();
  await server.process.start();
  assert.equal(server.address, address);
  const description = await client.workflow.getHandle('kept').describe();
  assert.equal(description.status.name, 'RUNNING');
  assert.equal((await fetch(uiUrl)).status, 200);
});
