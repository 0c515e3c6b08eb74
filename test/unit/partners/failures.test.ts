import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { FailureClass } from '../../../core/failures.ts';
import { connectPartners } from '../../../partners/clients/connect.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { call, failsAs, failureOf, requests, running, shortCall } from './running.ts';

const reference = 'acme/PO-1';
const { charge, place, quote } = requests(reference);

/** Answers one charge with this status and body, through the real server and the real client. */
async function chargeAnswered(t: TestContext, effect: Omit<FaultSpec['effect'] & object, 'kind'>) {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { status: 500, ...effect, kind: 'status' } });
  const failure = await failureOf(partners.payments.charge(charge, call));
  assert.equal((await control.counts(reference)).charge, 0);
  return failure;
}

const said = (error: string) => ({ error, message: 'the reason in words' });

const answers: [
  status: number,
  body: { error: string; message: string } | string | undefined,
  failureClass: FailureClass,
  code: string,
][] = [
  [402, said('card-declined'), 'refused', 'card-declined'],
  [409, said('out-of-stock'), 'refused', 'out-of-stock'],
  [422, said('cannot-deliver'), 'refused', 'cannot-deliver'],
  [402, 'no JSON', 'refused', 'http-402'],
  [409, said('in-progress'), 'busy', 'in-progress'],
  [422, said('key-reused'), 'never', 'key-reused'],
  [400, said('bad-request'), 'never', 'bad-request'],
  [401, '<html>', 'never', 'http-401'],
  [403, said('forbidden'), 'never', 'forbidden'],
  [413, said('too-large'), 'never', 'too-large'],
  [404, said('no-such-charge'), 'missing', 'no-such-charge'],
  [404, said('unknown-sku'), 'refused', 'unknown-sku'],
  [429, undefined, 'busy', 'rate-limited'],
  [503, undefined, 'busy', 'unavailable'],
  [500, undefined, 'unknown', 'server-error'],
  [502, '<html>Bad gateway</html>', 'unknown', 'server-error'],
  [504, undefined, 'unknown', 'server-error'],
  [408, undefined, 'unknown', 'bad-answer'],
  [202, '{}', 'unknown', 'bad-answer'],
  [302, '', 'unknown', 'bad-answer'],
  [200, '{"chargeId":', 'unknown', 'bad-answer'],
  [200, '{"chargeId":7}', 'unknown', 'bad-answer'],
  [200, '{}', 'unknown', 'bad-answer'],
  [200, 'null', 'unknown', 'bad-answer'],
];

for (const [status, body, failureClass, code] of answers) {
  const what = typeof body === 'object' ? body.error : (body ?? 'its usual body');
  test(`${status} with ${what} is ${failureClass}, code ${code}`, async (t) => {
    const effect = body === undefined ? { status } : { status, body };
    const failure = await chargeAnswered(t, effect);
    assert.deepEqual([failure.failureClass, failure.code], [failureClass, code]);
    assert.match(failure.message, /^payments /);
    if (typeof body === 'object') assert.match(failure.message, /the reason in words/);
  });
}

test('an answer of more than a megabyte is given up as unknown', async (t) => {
  const failure = await chargeAnswered(t, {
    status: 200,
    body: { chargeId: 'x'.repeat(1_100_000) },
  });
  assert.equal(failure.failureClass, 'unknown');
});

for (const status of [429, 503]) {
  test(`${status} passes on Retry-After in seconds as milliseconds`, async (t) => {
    const failure = await chargeAnswered(t, { status, retryAfter: 90 });
    assert.equal(failure.retryAfterMs, 90_000);
  });

  test(`${status} passes on Retry-After as a date`, async (t) => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    const { retryAfterMs = 0 } = await chargeAnswered(t, { status, retryAfter: inAnHour });
    assert.ok(retryAfterMs > 3_000_000 && retryAfterMs <= 3_600_000, String(retryAfterMs));
  });

  test(`${status} with a Retry-After that is past or nonsense is busy all the same`, async (t) => {
    const past = await chargeAnswered(t, { status, retryAfter: 'Thu, 01 Jan 1970 00:00:00 GMT' });
    assert.deepEqual([past.failureClass, past.retryAfterMs], ['busy', 0]);
    const nonsense = await chargeAnswered(t, { status, retryAfter: 'soon' });
    assert.deepEqual([nonsense.failureClass, nonsense.retryAfterMs], ['busy', undefined]);
  });
}

test('a partner that does not answer in time leaves the outcome unknown', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'hang-after' } });
  await failsAs(partners.payments.charge(charge, shortCall), 'unknown', 'timeout');
  assert.equal((await control.counts(reference)).charge, 1);
});

test('a connection dropped after the request was sent leaves the outcome unknown', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'drop-after' } });
  await failsAs(partners.supplier.place(place, call), 'unknown', 'connection-lost');
  assert.equal((await control.counts(reference)).order, 1);
});

test('a connection dropped before the partner acted looks just the same', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'drop-before' } });
  await failsAs(partners.supplier.place(place, call), 'unknown', 'connection-lost');
  assert.equal((await control.counts(reference)).order, 0);
});

test('a partner that nobody listens for has not acted: busy', async (t) => {
  const gone = await running(t);
  await gone.partners.supplier.quote(quote, call);
  await gone.close();
  const clients = connectPartners({ baseUrl: gone.url });
  t.after(() => clients.close());
  await failsAs(clients.payments.charge(charge, call), 'busy', 'unreachable');
});

test('a partner whose name does not resolve has not acted: busy', async (t) => {
  const clients = connectPartners({ baseUrl: 'http://partners.invalid:80' });
  t.after(() => clients.close());
  await failsAs(clients.payments.charge(charge, call), 'busy', 'unreachable');
});

test('an address that no connection can be made to has not acted: busy', async (t) => {
  // TCP has no broadcast, so the system refuses at once, with or without a network.
  const clients = connectPartners({ baseUrl: 'http://255.255.255.255:80' });
  t.after(() => clients.close());
  await failsAs(clients.payments.charge(charge, call), 'busy', 'unreachable');
});

test('a server that takes the connection and says nothing leaves the outcome unknown', async (t) => {
  const silent = createTcpServer((socket) => socket.on('error', () => socket.destroy()).resume());
  const baseUrl = await listening(t, silent);
  const clients = connectPartners({ baseUrl });
  t.after(() => clients.close());
  await failsAs(clients.payments.charge(charge, shortCall), 'unknown', 'timeout');
});

for (const [what, callOf, stops, code] of [
  ['stops in the middle of its body', call, true, 'connection-lost'],
  ['never ends its body', shortCall, false, 'timeout'],
] as const) {
  test(`an answer that ${what} leaves the outcome unknown`, async (t) => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"chargeId":', () => {
        if (stops) response.destroy();
      });
    });
    const clients = connectPartners({ baseUrl: await listening(t, server) });
    t.after(() => clients.close());
    await failsAs(clients.payments.charge(charge, callOf), 'unknown', code);
  });
}

test('the abort of the caller comes back as it is, during and before a call', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'hang-after' } });
  const controller = new AbortController();
  const reason = new Error('the order was cancelled');
  const pending = partners.payments.charge(charge, { ...call, signal: controller.signal });
  await control.waitUntilHeld({ operation: 'charge' }, 5_000);
  controller.abort(reason);
  await assert.rejects(pending, reason);
  const afterwards = partners.payments.charge(charge, { ...call, signal: controller.signal });
  await assert.rejects(afterwards, reason);
});

test('a key that no header can carry is a wrong request', async (t) => {
  const { partners, control } = await running(t);
  const attempt = partners.payments.charge({ ...charge, key: 'Łódź\r\nX: 1' }, call);
  await failsAs(attempt, 'never', 'bad-request');
  assert.deepEqual(await control.effects(), []);
});

test('closing the clients ends what is under way as unknown', async (t) => {
  const { url, control } = await running(t);
  const clients = connectPartners({ baseUrl: url });
  await control.setFault({ effect: { kind: 'hang-before' } });
  const pending = failsAs(clients.payments.charge(charge, call), 'unknown', 'connection-lost');
  await control.waitUntilHeld({ operation: 'charge' }, 5_000);
  await clients.close();
  await pending;
});

test('a base URL may have a path, with or without a slash at its end; nonsense is refused', async (t) => {
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    response.end('{"unitPrice":"1.00"}');
  });
  const base = await listening(t, server);
  for (const baseUrl of [`${base}/partners`, `${base}/partners/`]) {
    const clients = connectPartners({ baseUrl });
    await clients.supplier.quote(quote, call);
    await clients.close();
  }
  const path = '/partners/supplier/quotes?supplierId=sup_881&sku=SN-33&currency=EUR';
  assert.deepEqual(paths, [path, path]);
  assert.throws(() => connectPartners({ baseUrl: 'not a url' }), /Invalid URL/);
});

/** Listens on a free port until the test ends; returns the URL. */
async function listening(
  t: TestContext,
  server: Server | ReturnType<typeof createTcpServer>,
): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket: { destroy(): void }) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  // A TCP server's address is a string only on a Unix socket.
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
