import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRetryAfter } from '../../../partners/clients/failures.ts';
import { call, requests, running } from './running.ts';

test('effects are listed by order, by buyer, by partner and by kind, oldest first', async (t) => {
  const { partners, control } = await running(t);
  for (const reference of ['acme/1', 'bolt/1', 'acme/2']) {
    const { mail, place, charge } = requests(reference);
    await partners.payments.charge(charge, call);
    await partners.supplier.place(place, call);
    await partners.mailer.send(mail, call);
  }
  const listed = async (of?: Parameters<typeof control.effects>[0]) =>
    (await control.effects(of)).map(({ reference, kind }) => `${reference} ${kind}`);
  assert.deepEqual(await listed('acme/2'), ['acme/2 charge', 'acme/2 order', 'acme/2 mail']);
  assert.deepEqual(await listed({ orderRef: '1', kind: 'mail' }), ['acme/1 mail', 'bolt/1 mail']);
  assert.deepEqual(await listed({ buyerId: 'acme', partner: 'payments' }), [
    'acme/1 charge',
    'acme/2 charge',
  ]);
  assert.deepEqual(await listed({ buyerId: 'bolt', orderRef: '2' }), []);
  assert.equal((await control.effects()).length, 9);
});

test('orders are told apart although a part of their id has a slash or a space in it', async (t) => {
  const { partners, control } = await running(t);
  await partners.mailer.send(requests('a%2Fb/c%20d').mail, call);
  const found = await control.effects({ buyerId: 'a/b', orderRef: 'c d' });
  assert.deepEqual(
    found.map(({ reference }) => reference),
    ['a%2Fb/c%20d'],
  );
  assert.deepEqual(await control.effects({ buyerId: 'a' }), []);
});

test('every kind is counted, with 0 for what did not happen', async (t) => {
  const { partners, control } = await running(t);
  const { mail, charge } = requests('acme/1');
  await partners.mailer.send(mail, call);
  await partners.mailer.send(mail, call);
  await partners.payments.charge(charge, call);
  assert.deepEqual(await control.counts('acme/1'), {
    charge: 1,
    refund: 0,
    enquiry: 0,
    screening: 0,
    reservation: 0,
    release: 0,
    order: 0,
    cancel: 0,
    mail: 2,
    completion: 0,
  });
  assert.equal((await control.counts('acme/2')).mail, 0);
});

test('effects carry the time of the partners’ own clock, which only goes forward', async (t) => {
  const { url, partners, control } = await running(t);
  const dayMs = 24 * 60 * 60 * 1_000;
  const before = await control.now();
  const after = await control.advanceClock(20 * dayMs);
  assert.ok(after.getTime() - before.getTime() >= 20 * dayMs);
  await partners.mailer.send(requests('acme/1').mail, call);
  const [mail] = await control.effects();
  assert.ok(mail && new Date(mail.at) >= after, mail?.at);
  assert.equal((await post(`${url}/control/clock`, { advanceMs: -1 })).status, 400);
  assert.equal((await post(`${url}/control/clock`, { advanceMs: 1e300 })).status, 400);
});

test('health answers, also while requests are held', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'hang-after' } });
  const pending = partners.mailer.send(requests('acme/1').mail, call);
  await control.waitUntilHeld({ partner: 'mailer' }, 10_000);
  const { status, tornBytes } = await control.health();
  assert.deepEqual([status, tornBytes], ['ok', 0]);
  await control.clearFault();
  await pending;
});

test('every error is JSON with a word and a message', async (t) => {
  const { url } = await running(t);
  const json = 'application/json';
  const bad: [status: number, error: string, path: string, init?: RequestInit][] = [
    [404, 'no-such-route', '/payments'],
    [400, 'bad-request', '/effects?colour=red'],
    [400, 'bad-request', '/mailer/mails', { body: '{"to":', headers: { 'content-type': json } }],
    [400, 'bad-request', '/mailer/mails', { body: '{}', headers: { 'content-type': json } }],
    [
      415,
      'bad-request',
      '/mailer/mails',
      { body: '<x/>', headers: { 'content-type': 'text/xml' } },
    ],
    [
      413,
      'too-large',
      '/mailer/mails',
      { body: `"${'x'.repeat(2_000_001)}"`, headers: { 'content-type': json } },
    ],
  ];
  for (const [status, error, path, init] of bad) {
    const response = await fetch(url + path, init && { method: 'POST', ...init });
    const body = (await response.json()) as { error: string; message: string };
    assert.deepEqual([response.status, body.error], [status, error], path);
    assert.ok(body.message.length > 0);
  }
});

test('a wrong request names every field that is wrong', async (t) => {
  const { url } = await running(t);
  const response = await post(`${url}/supplier/orders`, {
    supplierId: '',
    reference: 'acme/1',
    supplierReference: 'acme/1/r1/place',
    lines: [{ sku: 'SN-33', quantity: '1e3', unit: 'NAR' }],
    colour: 'red',
  });
  assert.equal(response.status, 400);
  const { message } = (await response.json()) as { message: string };
  for (const field of ['supplierId', 'lines[0].quantity', 'colour']) {
    assert.ok(message.includes(field), `${field} is not in:\n${message}`);
  }
});

test('what the control client is told is passed on with the path and the reason', async (t) => {
  const { control } = await running(t);
  await assert.rejects(control.advanceClock(-1), /POST control\/clock: 400.*time does not go back/);
});

test('Retry-After: any number of seconds and any date to come are read exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), (seconds) => {
      assert.equal(parseRetryAfter(String(seconds), 0), seconds * 1_000);
      const nowMs = Date.UTC(2026, 0, 1);
      const date = new Date(nowMs + seconds * 1_000).toUTCString();
      assert.equal(parseRetryAfter(date, nowMs), seconds * 1_000);
      assert.equal(parseRetryAfter(date, nowMs + seconds * 1_000 + 5), 0);
    }),
  );
});

test('Retry-After: whatever a server writes there, the wait is none or a finite one', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const waitMs = parseRetryAfter(text, 0);
      assert.ok(waitMs === undefined || (Number.isFinite(waitMs) && waitMs >= 0), text);
    }),
  );
  assert.equal(parseRetryAfter(undefined, 0), undefined);
  assert.equal(parseRetryAfter('-5', 0), undefined);
  assert.equal(parseRetryAfter('1.5', 0), undefined);
});

function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}
