import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultSpec } from '../../../partners/control.ts';
import { call, failsAs, requests, running, type Running } from './running.ts';

const reference = 'acme/PO-1';
const { charge, place, mail, reserve } = requests(reference);
const limitMs = 10_000;

test('a hung request that was acted on is answered when it is released', async (t) => {
  const { partners, control } = await running(t);
  const faultId = await control.setFault({ partner: 'supplier', effect: { kind: 'hang-after' } });
  const pending = partners.supplier.place(place, call);
  const held = await control.waitUntilHeld({ operation: 'place' }, limitMs);
  assert.deepEqual(
    { ...held, since: 'some time' },
    {
      faultId,
      partner: 'supplier',
      operation: 'place',
      reference,
      key: place.supplierReference,
      since: 'some time',
      acted: true,
      callerGone: false,
    },
  );
  const [order] = await control.effects(reference);
  assert.equal(await control.release(faultId), 1);
  assert.equal((await pending).supplierOrderId, order?.id);
  assert.deepEqual(await control.held(), []);
});

test('a request that hangs unread is acted on when it is released', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'hang-before' } });
  const pending = partners.supplier.place(place, call);
  const { acted } = await control.waitUntilHeld({ operation: 'place' }, limitMs);
  assert.equal(acted, false);
  assert.equal((await control.counts(reference)).order, 0);
  assert.equal(await control.clearFault(), 1);
  await pending;
  assert.equal((await control.counts(reference)).order, 1);
});

test('a request lands late, after its caller gave up and asked again: two orders', async (t) => {
  const { partners, control } = await running(t);
  const faultId = await control.setFault({ times: 1, effect: { kind: 'hang-before' } });
  const giveUp = new AbortController();
  const first = partners.supplier.place(place, { ...call, signal: giveUp.signal });
  await control.waitUntilHeld({ faultId, callerGone: false }, limitMs);
  giveUp.abort();
  await assert.rejects(first);
  await control.waitUntilHeld({ faultId, callerGone: true }, limitMs);
  await partners.supplier.place(place, call);
  assert.equal((await control.counts(reference)).order, 1);
  await control.clearFault(faultId);
  assert.equal((await control.counts(reference)).order, 2);
});

test('a charge that lands late does not charge again: its key was used meanwhile', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ times: 1, effect: { kind: 'hang-before' } });
  const late = partners.payments.charge(charge, call);
  await control.waitUntilHeld({ operation: 'charge' }, limitMs);
  const first = await partners.payments.charge(charge, call);
  await control.release();
  assert.deepEqual(await late, first);
  assert.equal((await control.counts(reference)).charge, 1);
});

test('a request may land by itself', async (t) => {
  const { partners, control } = await running(t);
  for (const kind of ['hang-before', 'hang-after', 'delay'] as const) {
    const effect = kind === 'delay' ? { kind, ms: 50 } : { kind, landAfterMs: 50 };
    const faultId = await control.setFault({ effect });
    await partners.mailer.send(mail, call);
    assert.equal((await control.faults())[0]?.struck, 1);
    await control.clearFault(faultId);
  }
  assert.equal((await control.counts(reference)).mail, 3);
});

test('clearing one fault lets go only what it holds', async (t) => {
  const { partners, control } = await running(t);
  const mails = await control.setFault({ partner: 'mailer', effect: { kind: 'hang-after' } });
  await control.setFault({ partner: 'supplier', effect: { kind: 'hang-after' } });
  const mailed = partners.mailer.send(mail, call);
  const placed = partners.supplier.place(place, call);
  await control.waitUntilHeld({ partner: 'mailer' }, limitMs);
  await control.waitUntilHeld({ partner: 'supplier' }, limitMs);
  assert.equal(await control.clearFault(mails), 1);
  await mailed;
  assert.deepEqual(
    (await control.held()).map(({ partner }) => partner),
    ['supplier'],
  );
  await control.clearFault();
  await placed;
});

test('waiting for a request that is not held ends with what is held instead', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'hang-after' } });
  const pending = partners.mailer.send(mail, call);
  await control.waitUntilHeld({ partner: 'mailer' }, limitMs);
  await assert.rejects(control.waitUntilHeld({ partner: 'bureau' }, 50), /"partner":"mailer"/);
  await control.clearFault();
  await pending;
});

/** Sends mails one by one and says which of them met the fault. */
async function struck({ partners }: Running, references: string[]): Promise<boolean[]> {
  const met: boolean[] = [];
  for (const reference of references) {
    const { mail } = requests(reference);
    const ok = partners.mailer.send(mail, call).then(() => false);
    met.push(await ok.catch(() => true));
  }
  return met;
}

const unavailable = { kind: 'status', status: 503 } as const;

test('a fault lets the first ones pass, strikes as often as told, and then no more', async (t) => {
  const all = await running(t);
  await all.control.setFault({ skip: 2, times: 2, effect: unavailable });
  const met = await struck(all, Array<string>(6).fill(reference));
  assert.deepEqual(met, [false, false, true, true, false, false]);
  const [listed] = await all.control.faults();
  assert.deepEqual([listed?.seen, listed?.struck], [6, 2]);
});

test('the first fault that strikes wins, and one that is used up makes room for the next', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ times: 1, effect: { kind: 'status', status: 429 } });
  await control.setFault({ effect: unavailable });
  await failsAs(partners.mailer.send(mail, call), 'busy', 'rate-limited');
  await failsAs(partners.mailer.send(mail, call), 'busy', 'unavailable');
});

const narrowed: [what: string, fault: Omit<FaultSpec, 'effect'>][] = [
  ['its partner', { partner: 'warehouse' }],
  ['its operation', { operation: 'reserve' }],
  ['its order', { reference }],
  ['a sku among its lines', { sku: 'SN-33' }],
];
for (const [what, fault] of narrowed) {
  test(`a fault may name ${what}, and strikes nothing else`, async (t) => {
    const { partners, control } = await running(t);
    await control.setFault({ ...fault, effect: unavailable });
    await failsAs(partners.warehouse.reserve(reserve, call), 'busy', 'unavailable');
    const other = requests('acme/PO-2');
    const lines = [{ sku: 'SN-34', quantity: '1', unit: 'NAR' }];
    await partners.supplier.place({ ...other.place, lines }, call);
    await partners.mailer.send(other.mail, call);
  });
}

test('a fault on a look-up knows the order from the key that is looked up', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ operation: 'find', reference, effect: unavailable });
  const { findOrders, findMails } = requests(reference);
  await failsAs(partners.supplier.find(findOrders, call), 'busy', 'unavailable');
  await failsAs(partners.mailer.find(findMails, call), 'busy', 'unavailable');
  await partners.mailer.find(requests('acme/PO-2').findMails, call);
});

test('the same seed strikes the same requests in every run and in any order', async (t) => {
  const references = Array.from({ length: 60 }, (_, n) => `acme/PO-${n}`);
  const run = async (seed: number, order: string[]) => {
    const all = await running(t);
    await all.control.setFault({ rate: 0.4, seed, effect: unavailable });
    const met = await struck(all, order);
    return new Map(order.map((reference, n) => [reference, met[n]]));
  };
  const first = await run(7, references);
  const backwards = await run(7, references.toReversed());
  for (const reference of references) {
    assert.equal(backwards.get(reference), first.get(reference), reference);
  }
  const share = [...first.values()].filter(Boolean).length / references.length;
  assert.ok(share > 0.2 && share < 0.6, `${share} of them were struck`);
  assert.notDeepEqual(await run(8, references), first);
});

test('a request that a rate struck may get through when it is sent again', async (t) => {
  const all = await running(t);
  await all.control.setFault({ rate: 0.5, seed: 3, effect: unavailable });
  const met = await struck(all, Array<string>(40).fill(reference));
  assert.ok(met.includes(true) && met.includes(false), String(met));
});

const wrong: [what: string, fault: object, names: RegExp][] = [
  ['an unknown partner', { partner: 'bank', effect: unavailable }, /partner/],
  [
    'an operation that is not the partner’s',
    { partner: 'mailer', operation: 'place', effect: unavailable },
    /use one of send, find[^]*operation/,
  ],
  ['no effect', { partner: 'mailer' }, /effect/],
  ['an operation of nobody', { operation: 'pay', effect: unavailable }, /of any partner/],
  ['an unknown effect', { effect: { kind: 'explode' } }, /effect\.kind/],
  ['a misspelt field', { refrence: 'a/1', effect: unavailable }, /refrence/],
  ['a rate above 1', { rate: 1.5, effect: unavailable }, /rate/],
  ['a wait that no timer can keep', { effect: { kind: 'delay', ms: 2 ** 31 } }, /effect\.ms/],
];
for (const [what, fault, names] of wrong) {
  test(`a fault with ${what} is refused, naming it`, async (t) => {
    const { url } = await running(t);
    const response = await fetch(`${url}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
    assert.equal(response.status, 400);
    assert.match(((await response.json()) as { message: string }).message, names);
  });
}

test('a fault can be looked at and taken away by its id; one that is gone is 404', async (t) => {
  const { url, partners, control } = await running(t);
  const faultId = await control.setFault({ partner: 'mailer', effect: unavailable });
  const at = `${url}/control/faults/${faultId}`;
  const found = (await (await fetch(at)).json()) as { fault: FaultSpec };
  assert.equal(found.fault.partner, 'mailer');
  await control.clearFault(faultId);
  await partners.mailer.send(mail, call);
  assert.equal((await fetch(at)).status, 404);
  await assert.rejects(control.clearFault(faultId), /404.*no-such-fault/);
});
