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

/** How each implementation is told where its server is. */
const places: [string, (address: string) => Record<string, string>, RegExp][] = [
  ['temporal', (address) => ({ TEMPORAL_ADDRESS: address }), /TEMPORAL_ADDRESS names another/],
  ['queue', databaseAt, /DATABASE_URL names another/],
  ['chain', databaseAt, /DATABASE_URL names another/],
];

function databaseAt(address: string) {
  return { DATABASE_URL: `postgres://me:hunter2@${address}/orders` };
}

for (const [on, envOf, hint] of places) {
  test(`a server of ${on} that is not there ends with 1, naming the address and how to start one`, async () => {
    const { address, close } = await silentServer();
    await new Promise<void>((resolve) => void close().once('close', resolve));
    for (const args of [
      ['where', 'PO-1'],
      ['submit', '-'],
    ]) {
      const ended = await q2t([...args, '--on', on], { env: envOf(address), input: order });
      assert.equal(ended.exitCode, 1);
      assert.equal(ended.stdout, '');
      assert.match(
        ended.stderr,
        new RegExp(`can't be reached at \\S*${address}.* \\(.+\\)\\.$`, 'm'),
      );
      assert.match(ended.stderr, /`npm run up`/);
      assert.match(ended.stderr, hint);
      assert.doesNotMatch(ended.stderr, /^ +at |hunter2/m);
    }
  });

  test(`a server of ${on} that takes the connection and never answers ends with 1 as well`, async () => {
    const { address, close } = await silentServer();
    try {
      const ended = await q2t(['list', '--json', '--on', on], { env: envOf(address) });
      assert.equal(ended.exitCode, 1);
      const document = JSON.parse(ended.stdout) as { error: { message: string } };
      assert.ok(document.error.message.includes(address));
      assert.doesNotMatch(ended.stdout, /hunter2/);
    } finally {
      close();
    }
  });
}

test('of a name with several addresses each refusal is told', async () => {
  const { address, close } = await silentServer();
  await new Promise<void>((resolve) => void close().once('close', resolve));
  const env = databaseAt(address.replace('127.0.0.1', 'localhost'));
  const ended = await q2t(['list', '--on', 'queue'], { env });
  assert.equal(ended.exitCode, 1);
  assert.match(ended.stderr, /\(connect ECONNREFUSED .+\)/);
});

test('a variable that can not be used is named, and Q2T_DEBUG tells where it was read', async () => {
  const env = { DATABASE_URL: 'mysql://x' };
  const ended = await q2t(['list', '--on', 'queue'], { env });
  assert.equal(ended.exitCode, 1);
  assert.match(ended.stderr, /DATABASE_URL must be a URL/);
  assert.doesNotMatch(ended.stderr, /^ +at /m);
  const traced = await q2t(['list', '--on', 'queue'], { env: { ...env, Q2T_DEBUG: '1' } });
  assert.match(traced.stderr, /^ +at /m);
});
