import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { q2t } from './q2t.ts';

const order = JSON.stringify({
  orderRef: 'PO-1',
  buyer: { id: 'acme', name: 'Acme', email: 'orders@acme.example' },
  supplierId: 'sup_881',
  currency: 'EUR',
  lines: [{ lineId: '1', sku: 'A', name: 'A', quantity: '1', unit: 'NAR', unitPrice: '1' }],
});

/** A port, and a server on it that takes connections and says nothing, until `close`. */
async function silentServer() {
  const server = createServer((socket) => socket.on('error', () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address and not a pipe's name.
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, close: () => server.close() };
}

test('a server that is not there ends with 1, naming the address and how to start one', async () => {
  const { address, close } = await silentServer();
  await new Promise<void>((resolve) => void close().once('close', resolve));
  for (const args of [
    ['where', 'PO-1'],
    ['submit', '-'],
  ]) {
    const ended = await q2t(args, { env: { TEMPORAL_ADDRESS: address }, input: order });
    assert.equal(ended.exitCode, 1);
    assert.equal(ended.stdout, '');
    assert.ok(ended.stderr.includes(`can't be reached at ${address}`));
    assert.match(ended.stderr, /`npm run up`/);
    assert.doesNotMatch(ended.stderr, /^ +at /m);
  }
});

test('a server that takes the connection and never answers ends with 1 as well', async () => {
  const { address, close } = await silentServer();
  try {
    const ended = await q2t(['list', '--json'], { env: { TEMPORAL_ADDRESS: address } });
    assert.equal(ended.exitCode, 1);
    const document = JSON.parse(ended.stdout) as { error: { message: string } };
    assert.ok(document.error.message.includes(address));
  } finally {
    close();
  }
});

test('a variable that can not be used is named, and Q2T_DEBUG tells where it was read', async () => {
  const env = { DATABASE_URL: 'mysql://x', TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const ended = await q2t(['list'], { env });
  assert.equal(ended.exitCode, 1);
  assert.match(ended.stderr, /DATABASE_URL must be a URL/);
  assert.doesNotMatch(ended.stderr, /^ +at /m);
  const traced = await q2t(['list'], { env: { ...env, Q2T_DEBUG: '1' } });
  assert.match(traced.stderr, /^ +at /m);
});

test('an implementation that is not there yet says so and ends with 2', async () => {
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  for (const implementation of ['queue', 'chain']) {
    const { exitCode, stderr } = await q2t(['list', '--on', implementation], { env });
    assert.equal(exitCode, 2);
    assert.match(stderr, new RegExp(`${implementation} is not there yet`));
  }
});
