import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, failsAs, requests, running, waitUntilTwoHeld } from './running.ts';

const reference = 'acme/PO-1';
const { quote, place, findOrders, mail, findMails } = requests(reference);

test('a stated price is confirmed as it was written', async (t) => {
  const { partners } = await running(t);
  const stated = { ...quote, unitPrice: '4.00' };
  assert.deepEqual(await partners.supplier.quote(stated, call), { unitPrice: '4.00' });
});

for (const [currency, decimals] of [
  ['EUR', /^\d+\.\d{2}$/],
  ['JPY', /^\d+$/],
  ['KWD', /^\d+\.\d{3}$/],
] as const) {
  test(`a price in ${currency} is made from the sku, with that currency’s decimals`, async (t) => {
    const { partners } = await running(t);
    const ask = (sku: string) => partners.supplier.quote({ ...quote, currency, sku }, call);
    const { unitPrice } = await ask('SN-33');
    assert.match(unitPrice, decimals);
    assert.deepEqual(await ask('SN-33'), { unitPrice });
    assert.notDeepEqual(await ask('SN-34'), { unitPrice });
  });
}

test('the catalogue’s prices stay the same from one release to the next', async (t) => {
  const { partners } = await running(t);
  assert.deepEqual(await partners.supplier.quote(quote, call), { unitPrice: '22.77' });
});

test('a sku that starts with UNKNOWN is refused, in a quote and in an order', async (t) => {
  const { partners, control } = await running(t);
  const sku = 'UNKNOWN-1';
  const quoted = partners.supplier.quote({ ...quote, sku, unitPrice: '1' }, call);
  await failsAs(quoted, 'refused', 'unknown-sku');
  const lines = [...place.lines, { sku, quantity: '1', unit: 'NAR' }];
  await failsAs(partners.supplier.place({ ...place, lines }, call), 'refused', 'unknown-sku');
  assert.equal((await control.counts()).order, 0);
});

test('a quote is no effect', async (t) => {
  const { partners, control } = await running(t);
  await partners.supplier.quote(quote, call);
  assert.deepEqual(await control.effects(), []);
});

test('an order sent twice is placed twice, and both are found by our reference', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.supplier.place(place, call);
  const second = await partners.supplier.place(place, call);
  assert.notEqual(first.supplierOrderId, second.supplierOrderId);
  assert.deepEqual(await partners.supplier.find(findOrders, call), [
    { ...first, cancelled: false },
    { ...second, cancelled: false },
  ]);
  assert.equal((await control.counts(reference)).order, 2);
});

test('an order is found at its own supplier only, by its own reference only', async (t) => {
  const { partners } = await running(t);
  await partners.supplier.place(place, call);
  const elsewhere = { ...findOrders, supplierId: 'sup_882' };
  assert.deepEqual(await partners.supplier.find(elsewhere, call), []);
  const other = { ...findOrders, supplierReference: 'acme/PO-1/r2/place' };
  assert.deepEqual(await partners.supplier.find(other, call), []);
});

test('cancelling twice is fine and happens once', async (t) => {
  const { partners, control } = await running(t);
  const { supplierOrderId } = await partners.supplier.place(place, call);
  const cancel = { supplierId: 'sup_881', supplierOrderId, reference };
  await partners.supplier.cancel(cancel, call);
  await partners.supplier.cancel(cancel, call);
  assert.deepEqual(await partners.supplier.find(findOrders, call), [
    { supplierOrderId, cancelled: true },
  ]);
  const cancels = await control.effects({ kind: 'cancel' });
  assert.deepEqual(
    cancels.map(({ undoes, supplierId }) => ({ undoes, supplierId })),
    [{ undoes: supplierOrderId, supplierId: 'sup_881' }],
  );
});

test('cancelling an order that is not there, or is another supplier’s, is missing', async (t) => {
  const { partners } = await running(t);
  const { supplierOrderId } = await partners.supplier.place(place, call);
  for (const [supplierId, id] of [
    ['sup_881', 'no-such-order'],
    ['sup_882', supplierOrderId],
  ] as const) {
    const cancel = { supplierId, supplierOrderId: id, reference };
    await failsAs(partners.supplier.cancel(cancel, call), 'missing', 'no-such-order');
  }
});

test('a mail sent twice arrives twice, and both are found by message id', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.mailer.send(mail, call);
  const second = await partners.mailer.send(mail, call);
  assert.deepEqual(await partners.mailer.find(findMails, call), [first, second]);
  assert.deepEqual(await partners.mailer.find({ messageId: 'acme/PO-2/r1/invoice' }, call), []);
  assert.equal((await control.counts(reference)).mail, 2);
});

test('a slow partner without keys works on the same request twice at the same time', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'delay', ms: 3_600_000 } });
  const one = partners.mailer.send(mail, call);
  const other = partners.mailer.send(mail, call);
  await waitUntilTwoHeld(control);
  await control.clearFault();
  assert.notEqual((await one).mailId, (await other).mailId);
});

test('what is not ASCII goes through questions and answers unharmed', async (t) => {
  const { partners } = await running(t);
  const messageId = 'Łódź & Söhne/PO #1?/発注';
  const { mailId } = await partners.mailer.send(
    { ...mail, messageId, subject: 'Ünïcode 🧾' },
    call,
  );
  assert.deepEqual(await partners.mailer.find({ messageId }, call), [{ mailId }]);
});
