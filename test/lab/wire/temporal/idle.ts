import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { until } from '../../../support/until.ts';
import { serverAddress, wired } from './wired.ts';
import type { Wired } from './wired.ts';
import { approve } from './workflows.ts';

const eventTypes = async (handle: WorkflowHandle) =>
  (await handle.fetchHistory()).events?.map(({ eventType }) => eventType);

const atTheGate = (handle: WorkflowHandle) =>
  // Started, charged, timer fired, and the workflow task after it done.
  until('the gate', async () => (await handle.describe()).historyLength >= 15);

async function approvedOrder({ start }: Wired, id: string): Promise<WorkflowHandle> {
  const handle = await start('order', id);
  await atTheGate(handle);
  assert.equal(await handle.executeUpdate(approve, { args: ['ann'] }), 'thanks, ann');
  assert.deepEqual(await handle.result(), ['charge', 'approved by ann', 'place']);
  return handle;
}

test('a worker behind an idle proxy makes the same history as one without', async (t) => {
  const wire = await wired(t);
  const direct = await wire.guest('direct', serverAddress);
  const without = await approvedOrder(wire, wire.id('without'));
  await direct.stop();
  await wire.guest('proxied');
  const through = await approvedOrder(wire, wire.id('through'));
  assert.deepEqual(await eventTypes(through), await eventTypes(without));
  assert.deepEqual(await wire.effects(wire.id('through')), ['charge attempt 1', 'place attempt 1']);
  assert.deepEqual(
    wire.proxy.connections().map(({ client, state }) => ({ client, state })),
    [{ client: 'proxied', state: 'open' }],
  );
});

test('failures, retries and results of a megabyte pass unchanged', async (t) => {
  const { guest, start, id } = await wired(t);
  await guest('w');
  const handle = await start('rough', id('rough'), 1_500_000);
  assert.deepEqual(await handle.result(), ['attempt 3', 1_500_000]);
});

test('a client behind the proxy gets the same answers and errors', async (t) => {
  const { guest, proxy, start, id } = await wired(t);
  await guest('w');
  await (await start('pair', id('pair'))).result();
  const connection = await Connection.connect({ address: proxy.address });
  t.after(() => connection.close());
  const client = new Client({ connection });
  assert.deepEqual(await client.workflow.getHandle(id('pair')).result(), ['first', 'second']);
  await assert.rejects(client.workflow.getHandle(id('nothing')).describe(), /not found/);
  await assert.rejects(client.workflow.getHandle(id('pair')).signal('x'), /already completed/);
});

test('closing the proxy ends every connection', async (t) => {
  const { worker, proxy } = await wired(t);
  await worker('w');
  await until('the connection of the worker', async () => proxy.connections('w').length === 1);
  await proxy.close();
  assert.deepEqual(proxy.connections(), []);
  await assert.rejects(Connection.connect({ address: proxy.address, connectTimeout: 500 }));
});
